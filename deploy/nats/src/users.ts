/**
 * Who may do what on the bus: the one declaration that every NATS configuration of Headway is made from.
 *
 * A service publishes the families it is the writer of, reads the streams it folds, and nothing else. A family's writer also
 * asks its stream for the newest message of a subject, so whoever publishes to a stream may look into it.
 */
export interface BusUser {
  readonly name: string;
  /** The subjects it is the writer of. */
  readonly publishes: readonly string[];
  /** The streams it may look into. */
  readonly looksInto: readonly BusStream[];
  /** The streams it may make short-lived consumers on, to read them in order. */
  readonly reads: readonly BusStream[];
  /** Durable consumers it owns; nobody else may take from them, or end them. */
  readonly durables: readonly { readonly stream: BusStream; readonly name: string }[];
}

export type BusStream = 'EVIDENCE' | 'RECORD' | 'EFFECTS' | 'FEED' | 'ACTS';

export const SERVICE_USERS: readonly BusUser[] = [
  {
    name: 'ingest',
    publishes: ['evidence.>'],
    // In the record: how far a reply has to wait for its signal, and policies that were trimmed out of the evidence.
    looksInto: ['EVIDENCE', 'RECORD'],
    reads: ['EVIDENCE'],
    durables: [],
  },
  {
    name: 'classifier',
    publishes: ['record.trajectory.>', 'record.signals.>', 'record.position.>', 'record.deadletter.>', 'trajectory.>'],
    // What operators say about its dead letters are acts.
    looksInto: ['EVIDENCE', 'RECORD', 'FEED', 'ACTS'],
    reads: ['EVIDENCE', 'RECORD', 'ACTS'],
    durables: [],
  },
  {
    name: 'projection',
    // It serves the dead letters, and what an operator does with one is an act.
    publishes: ['act.>'],
    looksInto: ['EVIDENCE', 'RECORD', 'EFFECTS', 'ACTS'],
    reads: ['EVIDENCE', 'RECORD', 'EFFECTS', 'ACTS'],
    durables: [],
  },
  {
    name: 'executor',
    // Beside effects: that a stale claim was refused, and, as evidence of a work, that it was claimed: readers take nothing else from there.
    publishes: ['effect.>', 'act.>', 'evidence.*.*.*.claimed'],
    looksInto: ['EVIDENCE', 'EFFECTS', 'ACTS'],
    reads: ['EFFECTS'],
    durables: [],
  },
];

/** Makes the streams and restores them. No service has its password. */
export const ADMIN_USER = 'admin';

/** Everything below these belongs to one of the streams. */
export const FAMILIES = ['evidence.>', 'record.>', 'effect.>', 'trajectory.>', 'act.>'] as const;

/** Tools outside of Headway, of one tenant. The embedded server takes whoever comes without a password for it. */
export const OUTSIDE_USER = 'outside';

/** The tenant that the user `outside` of the configurations made here may hear. */
export const OUTSIDE_TENANT = 'default';

/** What tools outside of Headway may hear of a tenant, whose id is written as in a subject. */
export const outsideMayHear = (tenant: string): string => `trajectory.*.${tenant}.>`;
