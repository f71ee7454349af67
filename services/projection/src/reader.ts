import type { StreamName } from '@headway/contracts';
import type { LogMessage, StreamDescription } from '@headway/eventlog';
import { ARCHIVE_READER, type Changes, isDataRefusal, nowhere, type ReaderPlace } from '@headway/readmodel';
import { setAside } from './apply/dead-letter.ts';
import type { Writer } from './ports.ts';

/** Bytes of payload in one transaction; a single larger message still goes alone. */
export const TRANSACTION_BYTES = 16 * 1024 * 1024;

/** A transaction that fails again and again is not made of fewer messages than these. */
const FEWEST = 16;

/** What became of a batch. `lost`: the stored position is not one that this process can go on from. */
export type Projected = { readonly outcome: 'projected' } | { readonly outcome: 'lost'; readonly reason: string };

export interface StreamProjection {
  /** The position up to which everything is archived and projected, as this process knows it. */
  place(): ReaderPlace;
  /**
   * Projects a batch, which may repeat messages that were projected before: those change nothing. Throws when the store
   * is away, and then bears the same batch again.
   */
  project(messages: readonly LogMessage[]): Promise<Projected>;
}

export interface ProjectionOptions {
  readonly writer: Writer;
  readonly stream: StreamName;
  readonly created: string;
  /** The stored position with which this process began to read. */
  readonly from: ReaderPlace;
  readonly apply: (changes: Changes, messages: readonly LogMessage[]) => Promise<void>;
  /** Called after each commit. */
  readonly onCommit: (change: number) => void;
  /** Called when another process turns out to have moved the position: nothing was written. */
  readonly onFenced?: () => void;
}

export function createProjection(options: ProjectionOptions): StreamProjection {
  let place = options.from;
  let most = Number.POSITIVE_INFINITY;
  /** One transaction; smaller ones where it failed, since it may have taken longer than the store lets one take. */
  const step = async (fresh: readonly LogMessage[]): Promise<ReaderPlace> => {
    const together = fresh.slice(0, most);
    try {
      const moved = await moveOver(options, place, together);
      most *= 2;
      return moved;
    } catch (error) {
      most = Math.max(FEWEST, Math.ceil(together.length / 2));
      throw error;
    }
  };
  const projectPart = async (messages: readonly LogMessage[]): Promise<Projected> => {
    for (let fresh = after(messages, place); fresh.length > 0; fresh = after(fresh, place)) {
      const stored = await step(fresh);
      if (isBehind(stored, place))
        return { outcome: 'lost', reason: `the stored position went back from ${text(place)} to ${text(stored)}` };
      place = stored;
    }
    return { outcome: 'projected' };
  };
  return {
    place: () => place,
    async project(messages) {
      for (const part of byBytes(messages)) {
        const projected = await projectPart(part);
        if (projected.outcome === 'lost') return projected;
      }
      return { outcome: 'projected' };
    },
  };
}

/**
 * One transaction over the messages, or over fewer of them where one cannot be handled: halves find it, and it is set
 * aside alone. Answers with the stored position after it, whoever moved it.
 */
async function moveOver(
  options: ProjectionOptions,
  from: ReaderPlace,
  messages: readonly LogMessage[],
): Promise<ReaderPlace> {
  try {
    return await move(options, from, messages, options.apply);
  } catch (error) {
    if (!isDataRefusal(error) && !(error instanceof TypeError) && !(error instanceof RangeError)) throw error;
    if (messages.length > 1) return moveOver(options, from, messages.slice(0, Math.ceil(messages.length / 2)));
    return move(options, from, messages, (changes) => setAside(changes, messages, String(error)));
  }
}

async function move(
  { writer, stream, created, onCommit, onFenced }: ProjectionOptions,
  from: ReaderPlace,
  messages: readonly LogMessage[],
  apply: ProjectionOptions['apply'],
): Promise<ReaderPlace> {
  const last = messages.at(-1) as LogMessage;
  const to = { generation: last.generation, sequence: last.sequence, created };
  const step = await writer.advance({ reader: ARCHIVE_READER, stream, from, to }, (changes) =>
    apply(changes, messages),
  );
  if (step.outcome === 'fenced') {
    onFenced?.();
    return step.at;
  }
  onCommit(step.change);
  return to;
}

const after = (messages: readonly LogMessage[], place: ReaderPlace) =>
  messages.filter((message) => isBehind(place, message));

const isBehind = (
  one: Pick<ReaderPlace, 'generation' | 'sequence'>,
  other: Pick<ReaderPlace, 'generation' | 'sequence'>,
): boolean =>
  one.generation < other.generation || (one.generation === other.generation && one.sequence < other.sequence);

const text = ({ generation, sequence }: ReaderPlace) => `${generation}:${sequence}`;

function* byBytes(messages: readonly LogMessage[]): Generator<readonly LogMessage[]> {
  let from = 0;
  let bytes = 0;
  for (const [at, { payload }] of messages.entries()) {
    if (at > from && bytes + payload.length > TRANSACTION_BYTES) {
      yield messages.slice(from, at);
      from = at;
      bytes = 0;
    }
    bytes += payload.length;
  }
  if (from < messages.length) yield messages.slice(from);
}

/**
 * Where to go on reading a stream from a stored position, or why that is not possible: the stream ends before the
 * position (the log lost its tail), or is another one under the same generation.
 */
export function goOnFrom(
  stored: ReaderPlace,
  stream: Pick<StreamDescription, 'stream' | 'generation' | 'created' | 'lastSequence'>,
): { readonly ok: true; readonly after: number } | { readonly ok: false; readonly reason: string } {
  const { stream: name, generation, created, lastSequence } = stream;
  if (stored.generation === nowhere.generation && stored.sequence === nowhere.sequence) return { ok: true, after: 0 };
  if (generation > stored.generation) return { ok: true, after: 0 };
  if (generation < stored.generation)
    return { ok: false, reason: `${name} is of generation ${generation}, the archive already of ${stored.generation}` };
  if (stored.created !== null && stored.created !== created)
    return {
      ok: false,
      reason: `${name} was created anew at ${created}; the archive is of the one of ${stored.created}`,
    };
  if (lastSequence < stored.sequence)
    return { ok: false, reason: `${name} ends at ${lastSequence}, before the archive at ${stored.sequence}` };
  return { ok: true, after: stored.sequence };
}
