import { defaultPolicy, type Policy, type PolicySet, policyOf } from '@headway/contracts';
import { laneKey } from './names.ts';

interface Held {
  /** From which sequence of the evidence on. */
  readonly since: number;
  /** `null` = the lane has none of its own any more. */
  readonly policy: Policy | null;
}

/**
 * The policies of one tenant, with every version there was: which one holds at a place of the evidence is told by the
 * order of the log alone, so that reading again judges by the same numbers.
 */
export class PolicyBook {
  readonly #byLane = new Map<string | null, Held[]>();
  readonly #byVersion = new Map<number, Policy>();
  #newest = 0;

  /** Takes a change at its sequence, in order; one that was taken before changes nothing. */
  take({ data }: Pick<PolicySet, 'data'>, sequence: number): void {
    if (sequence <= this.#newest) return;
    this.#newest = sequence;
    const policy = data.numbers === null ? null : policyOf(data.version, data.numbers);
    const lane = data.lane === null ? null : laneKey(data.lane);
    const held = this.#byLane.get(lane) ?? [];
    held.push({ since: sequence, policy });
    this.#byLane.set(lane, held);
    if (policy !== null) this.#byVersion.set(policy.version, policy);
  }

  /** The policy of a lane for what stands at a sequence: its own, else the tenant's, else the defaults. */
  at(lane: string | null, sequence: number): Policy {
    const own = lane === null ? null : this.#heldAt(lane, sequence);
    return own ?? this.#heldAt(null, sequence) ?? defaultPolicy;
  }

  /** The policy of a version, as long as there was one; else the defaults. */
  version(version: number | null): Policy {
    return (version === null ? undefined : this.#byVersion.get(version)) ?? defaultPolicy;
  }

  #heldAt(lane: string | null, sequence: number): Policy | null {
    return this.#byLane.get(lane)?.findLast(({ since }) => since <= sequence)?.policy ?? null;
  }
}
