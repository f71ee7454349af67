import {
  type LetterPlace,
  letterId,
  type Problem,
  parsePosition,
  problem,
  STREAMS,
  type StreamPosition,
} from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import { ARCHIVE_READER, nowhere } from '@headway/readmodel';
import type { ChangeWatch } from './change-watch.ts';
import type { Views } from './ports.ts';

/** How long a read waits for its position. Milliseconds. */
export const COVERAGE_WAIT = 10_000;
/** Reads that wait at once. */
export const COVERAGE_WAITERS = 200;
/** Another process may have committed: look again after so many milliseconds at the latest. */
const LOOK_AGAIN = 250;

/**
 * What has to be covered: `evidence` = the facts themselves; `class` = also what the classifier made of them;
 * `signals` = also what the signaller made of that.
 */
export type Depth = 'evidence' | 'class' | 'signals';

export interface Cover {
  readonly tenant: string;
  /** One work, or `null` for all of the tenant. */
  readonly work: string | null;
  readonly depth: Depth;
  /** As the client sent it; `undefined` = do not wait. */
  readonly after: string | undefined;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

export interface CoverageOptions {
  readonly views: Views;
  readonly watch: ChangeWatch;
  /** The generation of a stream as the log has it now, or `null` while that is not known. */
  readonly generationOf: (stream: string) => number | null;
  /** The last sequence of a stream as the log has it now, or `null` while the log does not answer. */
  readonly endOf: (stream: string) => Promise<number | null>;
  readonly waitMs?: number;
}

export type AwaitCoverage = (cover: Cover) => Promise<Result<null, Problem>>;

/** Read your writes: waits, bounded, until the views cover a position. */
export function createCoverage(options: CoverageOptions): AwaitCoverage {
  const { watch, waitMs = COVERAGE_WAIT } = options;
  let waiters = 0;
  return async (cover) => {
    if (cover.after === undefined) return ok(null);
    const position = readPosition(cover.after);
    if (!position.ok) return position;
    if (waiters >= COVERAGE_WAITERS)
      return refused(
        problem('too_busy', `${COVERAGE_WAITERS} reads already wait for their position. Try again later.`),
      );
    waiters += 1;
    try {
      const deadline = performance.now() + waitMs;
      for (const reached of stepsTo(options, cover, position.value))
        for (;;) {
          const seen = watch.told;
          const state = await reached();
          if (state === 'reached') break;
          if (state === 'lost') return refused(lost(cover.after));
          if (state !== 'waiting') return refused(held(cover.work, state.letter));
          const left = deadline - performance.now();
          if (left <= 0 || cover.signal.aborted) return refused(notYet(cover.after, waitMs));
          await watch.next(seen, Math.min(left, LOOK_AGAIN), cover.signal);
        }
      return ok(null);
    } finally {
      waiters -= 1;
    }
  };
}

type Step = () => Promise<'reached' | 'waiting' | 'lost' | { readonly letter: LetterPlace }>;

/** One after the other: the place, then the classes, then the signals made of the classes found by then. */
function* stepsTo(
  { views, generationOf, endOf }: CoverageOptions,
  cover: Cover,
  position: StreamPosition,
): Generator<Step> {
  const { tenant, work, depth } = cover;
  const { stream, generation, sequence } = position;
  let withinLog = false;
  yield async () => {
    const [place, fate] = await Promise.all([views.place(ARCHIVE_READER, stream), views.positionFate(position)]);
    // Of a stream that was put back: what stood there is there again, or it was lost.
    if (fate === 'lost') return 'lost';
    if (fate === 'kept') return 'reached';
    if (place.generation === generation && place.sequence >= sequence) return 'reached';
    // A position that this log never gave is one of a log that was thrown away: it will not come.
    withinLog ||= sequence <= ((await endOf(stream)) ?? sequence);
    if (!withinLog) return 'lost';
    if (place.generation === generation) return 'waiting';
    const comes = generation === generationOf(stream) || (place.generation === nowhere.generation && generation > 0);
    return comes ? 'waiting' : 'lost';
  };
  if (stream !== STREAMS.evidence || depth === 'evidence') return;
  let coveredBy = 0;
  yield async () => {
    const letter = work === null ? null : await views.letterBefore({ tenant, work, sequence });
    if (letter !== null) return { letter };
    const by = await views.classifiedBy({ tenant, work, sequence });
    if (by === null) return 'waiting';
    coveredBy = by;
    return 'reached';
  };
  if (depth === 'class') return;
  yield async () => {
    const letter = await views.signalsLetter(tenant);
    // Of a record of signals that is held here it is not known how far it goes.
    if (letter !== null && (letter.reader === 'projection' || coveredBy >= letter.sequence)) return { letter };
    return (await views.signalledUpTo(tenant)) >= coveredBy ? 'reached' : 'waiting';
  };
}

const readStreams: readonly string[] = [STREAMS.evidence, STREAMS.record, STREAMS.acts, STREAMS.effects];

function readPosition(text: string): Result<StreamPosition, Problem> {
  const position = parsePosition(text);
  return position !== null && readStreams.includes(position.stream)
    ? ok(position)
    : refused(
        problem('invalid_parameter', '`after` is not a position. Use one that a write has answered with, unchanged.'),
      );
}

const held = (work: string | null, letter: LetterPlace): Problem =>
  problem(
    'work_held',
    `${work === null ? 'What the signals say' : JSON.stringify(work)} waits behind the dead letter ${letterId(letter)}: an operator has to retry or drop it. Read without \`after\` to see what stands there.`,
  );

const lost = (after: string): Problem =>
  problem('position_lost', `The log that ${after} is a place of is gone. Read again without \`after\`.`);

const notYet = (after: string, waitMs: number): Problem =>
  problem(
    'not_yet',
    `The view did not cover ${after} within ${waitMs / 1_000} s. Ask again, or read without \`after\`.`,
  );
