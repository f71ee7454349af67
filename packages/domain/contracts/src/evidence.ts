import { z } from 'zod';
import { limits } from './limits.ts';

const name = z.string().min(1).max(limits.name);
const text = z.string().max(limits.text);
const hash = z.string().min(1).max(limits.name);
const count = z.number().int().nonnegative();
const timestamp = z.iso.datetime({ offset: true });

/** The diff hash of a work tree that equals its base: SHA-256 of nothing. An empty list of files says the same. */
export const UNCHANGED_DIFF = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** `null` says that the diff state could not be observed, which is never "unchanged". Absent means the same. */
export const diffSchema = z.object({
  hash,
  files: z
    .array(z.object({ path: name, hash: hash.nullable() }))
    .max(limits.files)
    .optional(),
  added: count.optional(),
  removed: count.optional(),
});
export type Diff = z.infer<typeof diffSchema>;
const diff = diffSchema.nullable().optional();

export const sizingSchema = z.object({
  files: count.optional(),
  toolCalls: count.optional(),
  gateAttempts: count.optional(),
  commits: count.optional(),
  tokens: count.optional(),
});
export type Sizing = z.infer<typeof sizingSchema>;

export const outcomeSchema = z.enum(['passed', 'failed', 'errored']);
export type Outcome = z.infer<typeof outcomeSchema>;
export const stageSchema = z.enum(['prep', 'done', 'bare']);
export type Stage = z.infer<typeof stageSchema>;

const failureSchema = z.object({ key: z.string().min(1).max(limits.failureKey), message: text.optional() });

/** `value` is `null` where nothing could be extracted: it then equals nothing, itself included. */
export const signatureSchema = z.object({
  version: count,
  value: z.string().max(128).nullable(),
  tool: z.string().max(64).nullable(),
  /** Which rules of the user were in force: the beginning of their hash. Absent = none. */
  rules: z.string().max(64).optional(),
});
export type SignatureReading = z.infer<typeof signatureSchema>;

const lifecycle = z.object({
  by: z.enum(['worker', 'orchestrator', 'person', 'ci']).optional(),
  reason: text.optional(),
});

/**
 * The evidence that a client may report, by type. The unknown members of `data` are kept in the log and
 * ignored by every rule, so that a newer client never has its report refused.
 */
export const evidenceData = {
  'headway.work.claimed': z.looseObject({
    worker: name,
    orchestrator: name.optional(),
    lane: name.optional(),
    base: name.optional(),
    criteria: z.array(text).max(1_000).optional(),
    sizing: sizingSchema.optional(),
  }),
  'headway.gate.attempted': z.looseObject({
    gate: name,
    outcome: outcomeSchema,
    stage: stageSchema.default('bare'),
    failures: z.array(failureSchema).max(limits.failures).optional(),
    output: z.string().optional(),
    exitCode: z.number().int().nullable().optional(),
    diff,
    startedAt: timestamp.optional(),
    endedAt: timestamp.optional(),
    durationMs: z.number().nonnegative().optional(),
    /**
     * What ingest read from the attempt, never the reporter: the failing set's signature and the version of the reader
     * that made it. A rebuild uses it as it stands. `failures` then holds the extracted set too.
     */
    signature: signatureSchema.optional(),
  }),
  'headway.commit.recorded': z.looseObject({
    sha: name,
    files: z.array(z.object({ path: name, added: count, removed: count })).max(limits.files),
    diff,
  }),
  'headway.edit.recorded': z.looseObject({ path: name, before: hash.nullable(), after: hash.nullable() }),
  'headway.checkpoint.recorded': z.looseObject({
    by: z.enum(['worker', 'subagent-stop', 'harness']),
    note: text.optional(),
    diff,
  }),
  'headway.delegation.opened': z.looseObject({ delegation: name, child: name.optional() }),
  'headway.delegation.completed': z.looseObject({ delegation: name, child: name.optional() }),
  'headway.wake.delivered': z.looseObject({ reason: text.optional() }),
  'headway.signal.sent': z.looseObject({
    signal: name,
    thread: name,
    inReplyTo: name.nullable().optional(),
    intent: z.string().min(1).max(64),
    from: name,
    to: z.array(name).max(1_000),
    text,
  }),
  'headway.usage.recorded': z.looseObject({
    inputTokens: count.nullable().optional(),
    outputTokens: count.nullable().optional(),
    costUsd: z.number().nonnegative().nullable().optional(),
    startedAt: timestamp,
    endedAt: timestamp,
    reason: text.optional(),
  }),
  'headway.work.blocked': lifecycle.loose(),
  'headway.work.unblocked': lifecycle.loose(),
  'headway.work.released': lifecycle.loose(),
  'headway.work.done': lifecycle.extend({ criteriaMet: count.optional() }).loose(),
} as const;

export type EvidenceType = keyof typeof evidenceData;
export const evidenceTypes = Object.keys(evidenceData) as EvidenceType[];
export const isEvidenceType = (type: string): type is EvidenceType => Object.hasOwn(evidenceData, type);

/** CloudEvents 1.0 attributes that every report carries. `subject` is the work. */
export interface EventAttributes {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly subject: string;
  /** RFC 3339. Recorded and shown; no rule ever reads it. */
  readonly time?: string;
  /** One claim of the work by one worker; absent = the current one. */
  readonly incarnation?: number;
  /** W3C trace context, where the reporter sent one. */
  readonly traceparent?: string;
}

type Reported = {
  [Type in EvidenceType]: EventAttributes & {
    readonly type: Type;
    readonly data: z.output<(typeof evidenceData)[Type]>;
  };
}[EvidenceType];

/** A fact of the log that ingest states itself: a report was refused because its identity was taken by another content. */
export type EvidenceRefused = EventAttributes & {
  readonly type: 'headway.evidence.refused';
  readonly data: {
    readonly reason: 'conflict';
    readonly refused: { readonly source: string; readonly id: string; readonly type: string };
    /** Content digests: the one that stands, and the refused one. */
    readonly standing: string;
    readonly offered: string;
  };
};

/** A tick of the monitor, one per partition; for every work of it. Posted by ingest alone. */
export interface MonitorTicked {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: 'headway.monitor.ticked';
  readonly time?: string;
  readonly data: Record<string, never>;
}

/** One fact about a work, as it stands in the log. */
export type EvidenceEvent = Reported | EvidenceRefused;
export type EvidenceOf<Type extends EvidenceEvent['type']> = Extract<EvidenceEvent, { type: Type }>;
