import { STREAMS, type StreamName } from '@headway/contracts';
import type { ConsumerDeclaration } from './reacting.ts';

export interface StreamDeclaration {
  readonly name: StreamName;
  /** The first token of all its subjects. */
  readonly root: string;
  /** What happens when a limit of the stream is met. */
  readonly discard: 'new' | 'old';
  /** How long a message is kept; `null` = for ever. */
  readonly maxAgeSeconds: number | null;
}

const DAY = 24 * 60 * 60;

/**
 * All streams. EVIDENCE, RECORD, EFFECTS and ACTS are the truth, so nothing ages out of them by itself and no limit per
 * subject drops an older message: a limit would take commits that the projection has not archived yet, and a subject
 * whose newest message is gone can never again be written with an expected sequence. A full disk refuses new messages
 * instead. What is old and archived is taken out of EVIDENCE and ACTS by trimming. FEED is a copy for others, made from
 * RECORD, and may forget.
 */
export const DECLARED_STREAMS: readonly StreamDeclaration[] = [
  { name: STREAMS.evidence, root: 'evidence', discard: 'new', maxAgeSeconds: null },
  { name: STREAMS.record, root: 'record', discard: 'new', maxAgeSeconds: null },
  { name: STREAMS.effects, root: 'effect', discard: 'new', maxAgeSeconds: null },
  { name: STREAMS.feed, root: 'trajectory', discard: 'old', maxAgeSeconds: 7 * DAY },
  { name: STREAMS.acts, root: 'act', discard: 'new', maxAgeSeconds: null },
];

/** The durable consumers of those who react; readers need none. Provisioned with the streams. */
export const DECLARED_CONSUMERS: readonly ConsumerDeclaration[] = [];

const byRoot = new Map(DECLARED_STREAMS.map((declaration) => [declaration.root, declaration.name]));
const byName = new Map(DECLARED_STREAMS.map((declaration) => [declaration.name, declaration.root]));

export const streamOfRoot = (root: string): StreamName | undefined => byRoot.get(root);

export function rootOf(stream: StreamName): string {
  const root = byName.get(stream);
  if (root === undefined) throw new RangeError(`${JSON.stringify(stream)} is not a declared stream`);
  return root;
}
