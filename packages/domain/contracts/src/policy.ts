import { z } from 'zod';
import type { PositionText } from './api.ts';
import { limits } from './limits.ts';
import { defaultPolicy, type Policy, type PolicyNumbers } from './trajectory.ts';

const whole = (least: number, most: number) => z.number().int().min(least).max(most);

/** What each number of a policy may be. Within these every rule can fire, whatever the history. */
export const policyRanges = {
  sameFailure: [2, 100],
  noMovement: [2, 100],
  /** 0 = off. */
  circling: [0, 1_000],
  circlingDiffs: [1, 3],
  returns: [1, 8],
  infrastructure: [2, 100],
  overrunSinceCheckpoint: [1, 1_000],
  overrunInAll: [1, 1_000],
  ticksBeforeWake: [1, 1_440],
} as const satisfies Record<keyof PolicyNumbers, readonly [number, number]>;

export const policyNumberNames = Object.keys(policyRanges) as (keyof PolicyNumbers)[];

/** Changes of one tenant's policies, ever. */
export const POLICY_VERSIONS = 10_000;

const numbersSchema = z.strictObject(
  Object.fromEntries(
    policyNumberNames.map((name) => [name, whole(policyRanges[name][0], policyRanges[name][1]).optional()]),
  ) as Record<keyof PolicyNumbers, z.ZodOptional<z.ZodNumber>>,
);

/** The body of `PUT /v1/policy`. */
export const policyChangeSchema = z.strictObject({
  /** The lane it is for; absent or `null` = all works of the tenant whose lane has no policy of its own. */
  lane: z.string().min(1).max(limits.name).nullable().default(null),
  /** What is not named has its default. `null` = no policy of its own any more. */
  numbers: numbersSchema.nullable(),
  by: z.string().min(1).max(200),
  why: z.string().trim().min(1).max(1_000),
  /** The tenant's newest version as the caller knows it; a newer one refuses the change. Absent = whatever it is. */
  expectedVersion: z.number().int().nonnegative().optional(),
});
export type PolicyChange = z.output<typeof policyChangeSchema>;

/** A policy was set, or taken back: an operator's act that stands between the evidence it holds for and that before it. */
export interface PolicySet {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: 'headway.policy.set';
  readonly time: string;
  readonly data: {
    /** Counts the changes of the tenant, all lanes together: 1 is the first. */
    readonly version: number;
    readonly lane: string | null;
    readonly numbers: Partial<PolicyNumbers> | null;
    readonly by: string;
    readonly why: string;
  };
}

/** The payload of `evidence.policy.<tenant>`. */
export interface PolicyCommit {
  readonly v: 1;
  readonly events: readonly [PolicySet];
}

/**
 * The payload of `record.policy.<tenant>.<version>`: a change that is taken out of the evidence by trimming, since what
 * comes after it is judged by it for ever. `sequence` is where it stood in EVIDENCE.
 */
export interface KeptPolicy {
  readonly v: 1;
  readonly sequence: number;
  readonly events: readonly [PolicySet];
}

/** Numbers as they were given: what is not there has its default. */
export type GivenNumbers = { readonly [Name in keyof PolicyNumbers]?: PolicyNumbers[Name] | undefined };

/** The whole policy of a change, with the numbers that are not the defaults. */
export function policyOf(version: number, numbers: GivenNumbers): Policy {
  const given = Object.entries(numbers).filter(([, value]) => value !== undefined);
  const differs = Object.fromEntries(
    given.filter(([name, value]) => defaultPolicy[name as keyof PolicyNumbers] !== value),
  ) as Partial<PolicyNumbers>;
  const all = { ...defaultPolicy, ...(Object.fromEntries(given) as Partial<PolicyNumbers>) };
  return { ...all, version, differs: Object.keys(differs).length === 0 ? null : differs };
}

/** One policy as the API shows it. */
export interface PolicyView {
  /** `null` = that of the tenant. */
  readonly lane: string | null;
  /** 0 = the defaults, which nobody set. */
  readonly version: number;
  readonly numbers: PolicyNumbers;
  readonly differs: Partial<PolicyNumbers>;
  readonly by: string | null;
  readonly why: string | null;
  readonly setAt: string | null;
}

/** `GET /v1/policy`: that of the tenant first, then those of lanes by name. */
export interface PoliciesView {
  readonly position: PositionText;
  /** The newest version of the tenant. */
  readonly version: number;
  readonly policies: readonly PolicyView[];
  readonly defaults: PolicyNumbers;
}

/** The answer to `PUT /v1/policy`. */
export interface PolicyAnswer {
  readonly version: number;
  readonly lane: string | null;
  /** It was so already: nothing was written. */
  readonly unchanged: boolean;
  readonly position: PositionText;
}
