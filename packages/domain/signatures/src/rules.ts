import { type Problem, problem, ruleLimits, type SignatureRule, signatureRulesSchema } from '@headway/contracts';
import { digest, ok, type Result, refused } from '@headway/kernel';
import { maskMessage } from './mask.ts';

/** Instructions that all patterns together may compile to: what one line may cost. */
const MOST_INSTRUCTIONS = 20_000;
const ID_CHARS = 16;

/** A user's rules, compiled. */
export interface SignatureRules {
  /** The beginning of the hash over the rules: it stands in every signature that was read with them. */
  readonly id: string;
  /** What a line means; `null` = no rule matches. */
  read(line: string): { readonly rule: string; readonly key: string | null } | null;
}

/**
 * Reads a file of rules (JSON, see `signatureRulesSchema`). The engine is loaded when there is a rule; it takes time
 * linear in the line whatever the pattern.
 */
export async function readRules(text: string): Promise<Result<SignatureRules, Problem>> {
  if (Buffer.byteLength(text) > ruleLimits.fileBytes)
    return wrong(`A file of rules has at most ${ruleLimits.fileBytes} bytes; this one has more.`);
  const parsed = signatureRulesSchema.safeParse(jsonOf(text));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const pointer = `/${(issue?.path ?? []).map(String).join('/')}`;
    return wrong(`A file of rules is JSON like {"rules": [{"id": ..., "pattern": ...}]}: ${issue?.message}.`, pointer);
  }
  const { rules } = parsed.data;
  const ids = new Set(rules.map((rule) => rule.id));
  if (ids.size < rules.length) return wrong('Two rules have one id. Give each its own.', '/rules');
  return compile(rules);
}

async function compile(rules: readonly SignatureRule[]): Promise<Result<SignatureRules, Problem>> {
  const { RE2JS, RE2Set } = await import('re2js');
  const any = new RE2Set();
  const patterns: InstanceType<typeof RE2JS>[] = [];
  let instructions = 0;
  for (const [at, { pattern, ignoreCase }] of rules.entries()) {
    const pointer = `/rules/${at}/pattern`;
    try {
      const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
      instructions += compiled.programSize();
      if (instructions > MOST_INSTRUCTIONS)
        return wrong('The patterns are too large together. Use smaller repeats, or fewer rules.', pointer);
      if (compiled.test('')) return wrong('This pattern matches every line. Say more of what the line holds.', pointer);
      patterns.push(compiled);
      any.add(ignoreCase ? `(?i:${pattern})` : pattern);
    } catch (error) {
      return wrong(`This pattern is not one of RE2's syntax (${messageOf(error)}).`, pointer);
    }
  }
  any.compile();
  const id = digest('signature-rules', JSON.stringify(rules)).slice(0, ID_CHARS);
  return ok({
    id,
    read(line) {
      const first = rules.length === 0 ? undefined : smallest(any.match(line));
      const rule = first === undefined ? undefined : rules[first];
      if (first === undefined || rule === undefined) return null;
      if (rule.means === 'ignore') return { rule: rule.id, key: null };
      const matcher = patterns[first]?.matcher(line);
      if (matcher === undefined || !matcher.find()) return null;
      const names = patterns[first]?.namedGroups() ?? {};
      const group = (name: string): string | null => (name in names ? matcher.group(name) : null);
      const error = group('error');
      const what = maskMessage(group('key') ?? matcher.group() ?? '');
      return { rule: rule.id, key: `${rule.id}: ${what}${error === null ? '' : `: ${maskMessage(error)}`}` };
    },
  });
}

const wrong = (detail: string, pointer?: string): Result<never, Problem> =>
  refused(problem('invalid_rules', detail, pointer));

const smallest = (numbers: readonly number[]): number | undefined =>
  numbers.length === 0 ? undefined : Math.min(...numbers);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
