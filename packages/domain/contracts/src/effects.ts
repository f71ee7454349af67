import { z } from 'zod';
import { limits } from './limits.ts';

/** Limits of effects, in one place. */
export const effectLimits = {
  /** Inputs of one operation, as canonical JSON in UTF-8. */
  inputBytes: 256 * 1024,
  /** A recorded result, as JSON in UTF-8. */
  resultBytes: 256 * 1024,
  /** Where an effect goes: an address, a repository, a table. */
  target: 2_048,
  /** The caller's key. */
  key: 1_024,
  generation: 1_000_000,
  /** Fingerprints that an operation declares as its assumptions. */
  assumptions: 100,
  /** A text that says why. */
  reason: 2_000,
  /** Late answers kept with one operation; what comes after is counted in the log of the service alone. */
  evidence: 100,
  /** Operations on one page. */
  page: 200,
} as const;

export const effectStates = [
  'PROPOSED',
  'ADMITTED',
  'CLAIMED',
  'STARTED',
  'UNCERTAIN',
  'RETRY_AUTHORISED',
  'SUCCEEDED',
  'FAILED',
  'REJECTED',
  'ABANDONED',
] as const;
export type EffectState = (typeof effectStates)[number];

/** What a target offers (design 4.3): a key, a condition, a gated egress process, or nothing. */
export const adapterClasses = ['K', 'C', 'P', 'N'] as const;
export type AdapterClass = (typeof adapterClasses)[number];

export const verdicts = ['True', 'False', 'Unknown'] as const;
export type Verdict = (typeof verdicts)[number];

const label = z.string().min(1).max(limits.name);

/** `POST /v1/effects`: asks for one effect. Who asks again with the same identity gets the same operation. */
export const effectRequestSchema = z.strictObject({
  kind: z
    .string()
    .regex(/^[a-z][a-z0-9]*([.-][a-z0-9]+)*$/)
    .max(64),
  target: z.string().min(1).max(effectLimits.target),
  /** Names the intent, never a run, an owner or an attempt. */
  key: z.string().min(1).max(effectLimits.key),
  /** A deliberate repeat is a new generation. */
  generation: z.number().int().min(1).max(effectLimits.generation).default(1),
  inputs: z.record(z.string(), z.json()),
  /** The subject whose verdict authorises it; absent = an operator's policy has to. */
  authority: label.optional(),
  /** The plan revision it was asked for under; only with `authority`. */
  planRevision: label.optional(),
  /** What it takes for granted: a fingerprint by name, as observed when it was asked for. */
  assumptions: z
    .record(label, label)
    .refine((all) => Object.keys(all).length <= effectLimits.assumptions, 'too many assumptions')
    .optional(),
  /** Who asks, for people. */
  by: label.optional(),
});
export type EffectRequest = z.output<typeof effectRequestSchema>;

/** A new epoch of a resource, or an operation's state, as it changed. The payload of `effect.<tenant>.<operation>`. */
export interface EffectRecord {
  readonly v: 1;
  readonly operation: string;
  /** From 1 without gaps. */
  readonly version: number;
  /** The event as JSON, byte for byte as the hash was made over it. */
  readonly entry: string;
  /** Hash of the version before; `null` for the first. */
  readonly previous: string | null;
  readonly hash: string;
}

interface Happened {
  readonly operation: string;
  readonly tenant: string;
  readonly version: number;
  /** By the clock of the store; ISO 8601. */
  readonly at: string;
  /** The state after it. */
  readonly state: EffectState;
  readonly epoch: number;
}

/** Every transition of an operation, and what was only noted. */
export type EffectEvent = Happened &
  (
    | {
        readonly type: 'headway.effect.proposed';
        readonly kind: string;
        readonly target: string;
        readonly key: string;
        readonly generation: number;
        readonly digest: string;
        readonly resource: string;
        readonly class: AdapterClass;
        readonly authority: string | null;
        readonly planRevision: string | null;
        readonly by: string | null;
      }
    | { readonly type: 'headway.effect.admitted'; readonly authority: string }
    | { readonly type: 'headway.effect.rejected'; readonly reason: string }
    | { readonly type: 'headway.effect.claimed'; readonly holder: string }
    | {
        readonly type: 'headway.effect.started';
        readonly holder: string;
        readonly attempt: number;
        readonly deadline: string;
      }
    | {
        readonly type: 'headway.effect.succeeded';
        readonly result: unknown;
        readonly source: SuccessSource;
        readonly by: string | null;
        readonly reason: string | null;
      }
    | { readonly type: 'headway.effect.failed'; readonly reason: string }
    | { readonly type: 'headway.effect.uncertain'; readonly reason: string }
    | { readonly type: 'headway.effect.retry-authorised'; readonly reason: string; readonly by: string | null }
    | { readonly type: 'headway.effect.withdrawn'; readonly reason: string }
    | { readonly type: 'headway.effect.abandoned'; readonly reason: string; readonly by: string }
    /** A late answer, or an observation, that moved nothing. */
    | { readonly type: 'headway.effect.evidence-recorded'; readonly evidence: string; readonly detail: string }
  );

/** How it is known that the effect exists. */
export type SuccessSource = 'answer' | 'late-answer' | 'observation' | 'operator';

/** One operation, as the API shows it. */
export interface EffectView {
  readonly operation: string;
  readonly tenant: string;
  readonly kind: string;
  readonly target: string;
  readonly key: string;
  readonly generation: number;
  readonly digest: string;
  readonly resource: string;
  readonly class: AdapterClass;
  readonly state: EffectState;
  readonly epoch: number;
  readonly attempt: number;
  readonly version: number;
  readonly authority: string | null;
  readonly reason: string | null;
  /** The target's answer as it was recorded; `null` until it SUCCEEDED. */
  readonly result: unknown;
  readonly requestedBy: string | null;
  readonly createdAt: string;
  readonly changedAt: string;
  readonly deadline: string | null;
  /** Seconds since it became UNCERTAIN, by the store's clock; `null` in any other state. */
  readonly uncertainForSeconds: number | null;
  /** What would resolve it, where it waits for something; `null` where nothing is to be done. */
  readonly resolvedBy: string | null;
}

export interface EffectHistory {
  readonly operation: string;
  readonly records: readonly EffectRecord[];
}
