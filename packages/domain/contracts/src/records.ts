import type { ActCommit } from './acts.ts';
import type { DeadLetterRecord } from './dead-letters.ts';
import type { EvidenceEvent, MonitorTicked } from './evidence.ts';
import type { KeptPolicy, PolicyCommit } from './policy.ts';
import type { SignalEvent, TrajectoryEvent } from './trajectory.ts';

/** The payload of one message of EVIDENCE: facts of one work accepted together, in order. */
export interface EvidenceCommit {
  readonly v: 1;
  readonly events: readonly EvidenceEvent[];
  /** The content digest of each event as it was reported, by index (see `contentDigest`). */
  readonly contents: readonly string[];
}

/** The payload of one tick message. */
export interface TickCommit {
  readonly v: 1;
  readonly events: readonly [MonitorTicked];
}

/** The payload of a `gap` message: an acknowledged message stood here, which was lost before it was archived. */
export interface GapRecord {
  readonly v: 1;
  /** First and last sequence of the lost messages. */
  readonly gap: { readonly first: number; readonly last: number };
}

/** The payload of `record.trajectory.<tenant>.<work>`. */
export interface TrajectoryRecord {
  readonly v: 1;
  /** The evidence this record covers: everything of the work up to this sequence of EVIDENCE. */
  readonly covered: number;
  /** Events of the commit after `covered` that are covered too, where one commit needed several records; else 0. */
  readonly within: number;
  /** The newest acknowledgement that was fed back into the fold, as its sequence of RECORD; 0 = none. */
  readonly answered: number;
  /** The last event is a reply: nothing more of the work is folded before the signaller has judged it. */
  readonly awaits: boolean;
  readonly events: readonly TrajectoryEvent[];
  /** The fold's state after the events; its shape belongs to `trajectory`, its version is inside. */
  readonly state: unknown;
}

/** The payload of `record.signals.<tenant>`. */
export interface SignalsRecord {
  readonly v: 1;
  /** The trajectory records this one covers: everything of the tenant up to this sequence of RECORD. */
  readonly covered: number;
  readonly events: readonly SignalEvent[];
  /** The signaller's state after the events, the open set included; its shape belongs to `trajectory`. */
  readonly state: unknown;
  /**
   * Where the state is too large for one record: by the name of each of its parts, the sequence in RECORD of the record
   * with its newest version. `state` is then what belongs to no part.
   */
  readonly parts?: Readonly<Record<string, number>>;
  /** Beside `parts`: by name, those whose newest version stands in this record. */
  readonly here?: unknown;
  /**
   * This record holds some parts in `state`, by name, no event, and the `covered` of before. It counts once a later
   * record names it in `parts`; `head` is the sequence of the newest record that is not of this kind, 0 = there is none.
   */
  readonly partsOnly?: { readonly head: number };
}

/**
 * The payload of `record.position.<reader>`: where a reader starts again. A hint; what is written carries its own proof.
 * The signaller's `RECORD` also tells up to where its signals cover the trajectories.
 */
export interface ReaderPosition {
  readonly v: 1;
  readonly positions: Readonly<Record<string, number>>;
}

export const encodeRecord = (
  record:
    | ActCommit
    | DeadLetterRecord
    | EvidenceCommit
    | TickCommit
    | PolicyCommit
    | TrajectoryRecord
    | SignalsRecord
    | ReaderPosition
    | KeptPolicy
    | GapRecord,
): Uint8Array => Buffer.from(JSON.stringify(record), 'utf8');
