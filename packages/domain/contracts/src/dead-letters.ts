import type { PositionText } from './api.ts';
import { encodeToken, parseSubject } from './subjects.ts';

/**
 * Who could not handle a message: `projection` makes what is read, `classifier` gives works their class, `signaller` opens
 * and closes signals, `feed` tells other tools.
 */
export const letterReaders = ['projection', 'classifier', 'signaller', 'feed'] as const;
export type LetterReader = (typeof letterReaders)[number];

/** Which message could not be handled, and by whom. */
export interface LetterPlace {
  readonly reader: LetterReader;
  readonly stream: string;
  readonly generation: number;
  readonly sequence: number;
}

/** A dead letter's id says which one it is: the same message fails under the same id, however often. */
export const letterId = ({ reader, stream, generation, sequence }: LetterPlace): string =>
  `${reader}-${stream}-${generation}-${sequence}`;

const LETTER_ID = new RegExp(`^(${letterReaders.join('|')})-([A-Z]+)-(\\d{1,9})-(\\d{1,15})$`);

export function parseLetterId(id: string): LetterPlace | null {
  const match = LETTER_ID.exec(id);
  return match === null
    ? null
    : {
        reader: match[1] as LetterReader,
        stream: match[2] as string,
        generation: Number(match[3]),
        sequence: Number(match[4]),
      };
}

/** What has to be handled in order, and waits as a whole where one of its messages cannot be handled. */
export interface Aggregate {
  readonly key: string;
  readonly tenant: string | null;
  readonly work: string | null;
}

/** A work, with its evidence and its records; of other families the messages under one subject. */
export function aggregateOf(subject: string): Aggregate {
  const meaning = parseSubject(subject);
  if (meaning?.kind === 'evidence' || meaning?.kind === 'trajectory')
    return {
      key: `work.${encodeToken(meaning.tenant)}.${encodeToken(meaning.work)}`,
      tenant: meaning.tenant,
      work: meaning.work,
    };
  return { key: subject, tenant: meaning?.kind === 'signals' ? meaning.tenant : null, work: null };
}

/**
 * The payload of `record.deadletter.<tenant>.<work>`: a reader of the classifier's service cannot handle a message, and
 * what it belongs to stands still from there on. The work is empty where that is the signals of the tenant.
 */
export interface DeadLetterRecord {
  readonly v: 1;
  readonly events: readonly DeadLettered[];
}

export interface DeadLettered {
  readonly type: 'headway.message.dead-lettered';
  readonly id: string;
  readonly data: LetterPlace & {
    readonly subject: string;
    readonly error: string;
    /** Every act up to this sequence of ACTS was known when this was tried: an earlier retry does not close it. */
    readonly actsKnown: number;
  };
}

/** Characters of an error that are kept with a dead letter. */
export const LETTER_ERROR = 1_000;

export interface DeadLetterView {
  readonly letter: string;
  readonly reader: LetterReader;
  /** Where the message stands in the log. */
  readonly position: PositionText;
  readonly subject: string;
  readonly work: string | null;
  readonly error: string;
  /** `open`: what it belongs to waits. `retried`: handled after all. `dropped`: passed over for ever. */
  readonly state: 'open' | 'retried' | 'dropped';
  /** How often it was tried. */
  readonly attempts: number;
  /** Messages of the same work that wait behind it, as far as this view knows. */
  readonly waiting: number;
  readonly recordedAt: string;
  readonly closedAt: string | null;
  readonly closedBy: string | null;
  readonly why: string | null;
}

export interface ProjectionView {
  readonly name: string;
  /** Grows with each rebuild that took its place. */
  readonly generation: number;
  readonly readers: readonly {
    readonly stream: string;
    readonly position: PositionText;
    /** Messages of the stream that are not projected yet; `null` while the log does not answer. */
    readonly lag: number | null;
    readonly heldUp: string | null;
  }[];
  readonly gaps: readonly GapReport[];
  readonly rebuild: RebuildView | null;
}

/** What the gap scanner has found of one stream. */
export interface GapReport {
  readonly stream: string;
  readonly generation: number;
  /** Every message up to this sequence is in the archive, but those in `missing`. */
  readonly scanned: number;
  /** Sequences that the log holds and the archive does not; at most some. */
  readonly missing: readonly number[];
}

export interface RebuildView {
  readonly state: 'requested' | 'running' | 'switched' | 'cancelled' | 'failed';
  /** Messages of the archive. */
  readonly done: number;
  readonly total: number;
  /** Messages a second, and seconds to go; `null` while that is not known. */
  readonly rate: number | null;
  readonly etaSeconds: number | null;
  readonly requestedBy: string;
  readonly why: string;
  readonly requestedAt: string;
  readonly endedAt: string | null;
  readonly error: string | null;
}
