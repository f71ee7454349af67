import { z } from 'zod';

/** The configuration cannot be used. The message names each variable and says what to change; it holds no values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * A service's configuration: an object schema whose members are environment variables, read from text.
 *
 * `defineConfig(z.object({ HEADWAY_PORT: z.coerce.number().int() })).read(process.env)` gives the values with defaults
 * filled in, or throws {@link ConfigError}. An empty variable is the same as an unset one. Values are never part of an
 * error, since any of them may be a secret.
 */
export function defineConfig<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>) {
  return {
    schema,
    read(environment: Readonly<Record<string, string | undefined>>): z.output<z.ZodObject<Shape>> {
      const given: Record<string, string> = {};
      for (const name of Object.keys(schema.shape)) {
        const value = environment[name];
        if (value !== undefined && value !== '') given[name] = value;
      }
      const parsed = schema.safeParse(given, { error: explain, reportInput: false });
      if (parsed.success) return parsed.data;
      const lines = parsed.error.issues.map((issue) => {
        const name = String(issue.path[0] ?? 'the environment');
        return `  ${name}: ${name in given ? issue.message : 'is not set and has no default; set it'}`;
      });
      throw new ConfigError(
        `The configuration cannot be used. Change these environment variables:\n${lines.join('\n')}`,
      );
    },
  };
}

/** Says what is expected and nothing of what was found. */
function explain(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return `has to be a ${issue.expected === 'int' ? 'whole number' : issue.expected}`;
  if (issue.code === 'invalid_value') return `has to be one of: ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_format') return `has to be a valid ${issue.format}`;
  const characters = 'origin' in issue && issue.origin === 'string' ? ' characters' : '';
  const verb = characters === '' ? 'be' : 'have';
  if (issue.code === 'too_small') return `has to ${verb} at least ${issue.minimum}${characters}`;
  if (issue.code === 'too_big') return `has to ${verb} at most ${issue.maximum}${characters}`;
  return undefined;
}

/** Environment values of the usual kinds. */
export const variable = {
  /** A TCP port; 0 = any free one. */
  port: (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback),
  flag: (fallback: boolean) =>
    z
      .enum(['true', 'false'])
      .default(fallback ? 'true' : 'false')
      .transform((text) => text === 'true'),
  /** A list with commas between its members; white space around them does not count. */
  list: () =>
    z
      .string()
      .default('')
      .transform((text) => text.split(',').flatMap((member) => (member.trim() === '' ? [] : [member.trim()]))),
} as const;
