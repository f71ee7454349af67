import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { ConfigError } from '@headway/runtime';
import { z } from 'zod';

const range = z.string().refine((text) => {
  const [address = '', bits] = text.split('/');
  return isIP(address) !== 0 && (bits === undefined || /^\d{1,3}$/.test(bits));
}, 'has to be an address or a range such as 10.0.0.0/8');

const origin = z.string().refine((text) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text;
}, 'has to be an origin such as https://api.example.com');

const header = z.string().min(1).max(8_192);

/** One origin that effects may be sent to. What is not listed is never called. */
const originTarget = z.strictObject({
  origin,
  /** Sent with each request: credentials, which no request of an agent may hold. */
  headers: z.record(z.string().regex(/^[a-z0-9-]{1,64}$/), header).default({}),
  /** Private addresses that its name may resolve to. Without them only public ones are called. */
  privateAddresses: z.array(range).max(100).default([]),
  /** The target answers 429 before it executes anything. */
  limitsBeforeExecution: z.boolean().default(false),
});
export type OriginTarget = z.output<typeof originTarget>;

const httpTargets = z.strictObject({
  origins: z.array(originTarget).max(1_000).default([]),
  timeoutMs: z.number().int().min(100).max(300_000).default(15_000),
  /** How long each of them remembers an idempotency key at least. */
  keyRetentionSeconds: z.number().int().min(0).max(31_536_000).default(86_400),
  /** How long one of them may still be working on a request after the connection is gone. */
  processingSeconds: z.number().int().min(0).max(86_400).default(60),
  /** The header that carries the key. */
  keyHeader: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/)
    .default('idempotency-key'),
});
export type HttpTargets = z.output<typeof httpTargets>;

const postgresTargets = z.strictObject({
  databases: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z0-9-]{1,64}$/),
        /** With the credential. The user needs no more than to write these tables. */
        url: z.string().regex(/^postgres(ql)?:\/\//, 'has to begin with postgres://'),
        /** By `<schema>.<table>`. */
        tables: z.record(
          z.string().regex(/^[^./]{1,63}\.[^./]{1,63}$/),
          z.strictObject({
            /** A text column that keeps which operation wrote the row: without one an equal row counts as ours. */
            operationColumn: z.string().min(1).max(63).optional(),
          }),
        ),
      }),
    )
    .max(100)
    .default([]),
  timeoutMs: z.number().int().min(100).max(300_000).default(10_000),
});
export type PostgresTargets = z.output<typeof postgresTargets>;

const webhookTargets = z.strictObject({
  hooks: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z0-9-]{1,64}$/),
        url: z.string().refine((text) => {
          const url = URL.parse(text);
          return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === '';
        }, 'has to be an http(s) address without user, password and fragment'),
        /** What deliveries are signed with: `whsec_` and 24 to 64 bytes in base64. */
        secret: z.string().regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, 'has to be whsec_ and 24 to 64 bytes in base64'),
        privateAddresses: z.array(range).max(100).default([]),
      }),
    )
    .max(1_000)
    .default([]),
  timeoutMs: z.number().int().min(100).max(300_000).default(15_000),
});
export type WebhookTargets = z.output<typeof webhookTargets>;

const fileTargets = z.strictObject({
  roots: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z0-9-]{1,64}$/),
        /** An absolute folder that nobody but Headway writes to; files are never written outside it. */
        folder: z.string().refine((path) => isAbsolute(path) && path !== '/', 'has to be an absolute folder, not /'),
      }),
    )
    .max(100)
    .default([]),
  timeoutMs: z.number().int().min(100).max(300_000).default(10_000),
});
export type FileTargets = z.output<typeof fileTargets>;

const gitTargets = z.strictObject({
  repositories: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z0-9-]{1,64}$/),
        /** Where refs are moved. Its host is the operator's choice: git's own dialling is not limited to public addresses. */
        remote: z.string().regex(/^(https?|git|file):\/\/[^\s@]+$/, 'has to be an address without a user'),
        /** The folder of a bare repository that holds the objects to be pushed. */
        source: z.string().refine(isAbsolute, 'has to be an absolute folder'),
        /** Sent with each request to an http(s) remote: `authorization: Basic ...`. */
        header: z
          .string()
          .regex(/^[a-z0-9-]{1,64}: [\x20-\x7e]{1,8192}$/)
          .optional(),
      }),
    )
    .max(1_000)
    .default([]),
  timeoutMs: z.number().int().min(100).max(300_000).default(60_000),
  processingSeconds: z.number().int().min(0).max(86_400).default(60),
});
export type GitTargets = z.output<typeof gitTargets>;

const natsTargets = z.strictObject({
  buses: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z0-9-]{1,64}$/),
        /** With user and password where there are any; never Headway's own bus. */
        url: z.string().refine((text) => URL.parse(text)?.protocol === 'nats:', 'has to begin with nats://'),
        stream: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
        /** What subjects begin with: `orders` allows `orders.new`. */
        subjects: z
          .array(z.string().regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/))
          .min(1)
          .max(100),
      }),
    )
    .max(100)
    .default([]),
  timeoutMs: z.number().int().min(100).max(300_000).default(10_000),
  /** How long each stream remembers message ids at least; asked of the server before each publish. */
  duplicateWindowSeconds: z.number().int().min(1).max(31_536_000).default(120),
  processingSeconds: z.number().int().min(0).max(86_400).default(10),
});
export type NatsTargets = z.output<typeof natsTargets>;

const targetsSchema = z.strictObject({
  nats: natsTargets.default(() => natsTargets.parse({})),
  git: gitTargets.default(() => gitTargets.parse({})),
  webhook: webhookTargets.default(() => webhookTargets.parse({})),
  file: fileTargets.default(() => fileTargets.parse({})),
  postgres: postgresTargets.default(() => postgresTargets.parse({})),
  http: httpTargets.default(() => httpTargets.parse({})),
});
export type Targets = z.output<typeof targetsSchema>;

/** What effects may reach, from the file that an operator wrote; none without a file. Throws `ConfigError`. */
export function readTargets(file: string | undefined): Targets {
  if (file === undefined) return targetsSchema.parse({});
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError(
      `HEADWAY_EFFECT_TARGETS_FILE: ${file} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  // Never with its input: it holds credentials.
  const parsed = targetsSchema.safeParse(content, { reportInput: false });
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `  /${issue.path.map(String).join('/')}: ${issue.message}`);
  throw new ConfigError(`HEADWAY_EFFECT_TARGETS_FILE: ${file} is not as it should be:\n${lines.join('\n')}`);
}
