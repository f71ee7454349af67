import { PARTITIONS, STREAMS, subjects } from '@headway/contracts';
import type { EventLog, ReadBatch } from '@headway/eventlog';
import { type Handled, handled, type Logger, type ReadLoop, type ReadLoopOptions, readLoop } from '@headway/runtime';
import type { Acts } from './acts.ts';
import { createAnswers } from './apply-answers.ts';
import { assessEvidence, type ReadCommit, readCommit } from './assess-evidence.ts';
import { announce } from './feed.ts';
import type { Duties } from './ownership.ts';
import { createPoisoned } from './poisoned.ts';
import { loadPolicies } from './policies.ts';
import { Fenced } from './ports.ts';
import { createPositions } from './positions.ts';
import { createProgress } from './progress.ts';
import { loadSignaller, type SignallerParts } from './signaller.ts';
import { createTurn } from './turn.ts';
import { loadWorks } from './works.ts';

/** How often readers note where they would start again. */
export const POSITION_INTERVAL_MS = 1_000;
/** How soon the signaller tells how far its signals go: what a reader of its own writes waits for. */
export const PROGRESS_INTERVAL_MS = 20;
/** How often the signaller records its state also where no signal changed. */
export const SNAPSHOT_INTERVAL_MS = 5_000;

/** The key of a position that holds for every partition. */
const EVERY = '*';

export interface DutyParts {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly acts: Acts;
  /** Where the works that stand still are noted. */
  readonly held: Set<string>;
  /** How commits of evidence are read; as this version of the code does unless told. */
  readonly readCommit?: ReadCommit;
  /** How signals are judged; as this version of the code does unless told. */
  readonly judgeEvent?: SignallerParts['judgeEvent'];
  /** Called when the duties are to be taken up anew, from what is recorded. */
  readonly again: () => void;
  /** See `JUDGMENT_SECONDS`. */
  readonly judgmentSeconds?: number;
}

type Reading = Pick<ReadLoopOptions, 'name' | 'stream' | 'filters' | 'after'>;

/** Starts a read loop. Being fenced ends it; everything else is tried again with the same batch. */
function startReading(
  { log, logger, signal }: DutyParts,
  reading: Reading,
  handle: (batch: ReadBatch) => Promise<void>,
  note: (sequence: number) => void,
): ReadLoop {
  const guarded = async (batch: ReadBatch): Promise<Handled> => {
    try {
      await handle(batch);
    } catch (error) {
      if (error instanceof Fenced) return handled.stop(error.message);
      throw error;
    }
    const last = batch.messages.at(-1);
    if (last !== undefined) note(last.sequence);
    return handled.ok;
  };
  return readLoop({ log, logger, signal, ...reading, handle: guarded });
}

/** Assesses the evidence of the owned partitions, and feeds the signaller's acknowledgements back into it. */
export async function startAssessing(parts: DutyParts, duties: Duties): Promise<readonly ReadLoop[]> {
  const { log, logger } = parts;
  const owns = (partition: number) => duties.partitions.has(partition);
  await parts.acts.known;
  const positions = createPositions(log, 'classifier');
  const known = await positions.read();
  const keys = duties.partitions.size === PARTITIONS ? [EVERY] : [...duties.partitions].map(String);
  const startOf = (kind: string) => {
    const every = known[`${kind}:${EVERY}`] ?? 0;
    return Math.min(...[...duties.partitions].map((partition) => Math.max(every, known[`${kind}:${partition}`] ?? 0)));
  };
  const progress = (kind: string) =>
    createProgress({ ...parts, name: kind, intervalMs: POSITION_INTERVAL_MS }, (sequence) =>
      positions.write(Object.fromEntries(keys.map((key) => [`${kind}:${key}`, sequence]))),
    );

  const policies = await loadPolicies(log, logger, parts.signal);
  const works = await loadWorks(log, owns);
  const { signal, again: onLate, judgmentSeconds } = parts;
  const answers = createAnswers({
    works,
    owns,
    policies,
    signal,
    onLate,
    ...(judgmentSeconds === undefined ? {} : { judgmentSeconds }),
  });
  const turn = createTurn();
  const poisoned = createPoisoned({ reader: 'classifier', log, logger, acts: parts.acts, held: parts.held });
  const evidence = progress('evidence');
  const answeredBefore = startOf('signals');
  for await (const batch of log.newestOfEach(STREAMS.record, subjects.allSignals))
    answers.readBefore(batch.filter((message) => message.sequence <= answeredBefore));
  logger.info({ works: works.size, partitions: duties.partitions.size }, 'assessing');

  return [
    startReading(
      parts,
      {
        name: 'assessing',
        stream: STREAMS.evidence,
        filters: [subjects.allEvidence],
        after: startOf('evidence'),
      },
      (batch) =>
        turn.run(() =>
          assessEvidence(
            { works, answers, turn, poisoned, readCommit: parts.readCommit ?? readCommit, owns, policies },
            batch.messages,
          ),
        ),
      (sequence) => evidence.note(poisoned.before(sequence)),
    ),
    startReading(
      parts,
      { name: 'answers', stream: STREAMS.record, filters: [subjects.allSignals], after: answeredBefore },
      (batch) => turn.run(() => answers.apply(batch.messages)),
      progress('signals').note,
    ),
  ];
}

/** Opens and closes signals, for all tenants. */
export async function startSignalling(parts: DutyParts): Promise<ReadLoop> {
  const positions = createPositions(parts.log, 'signaller');
  const known = await positions.read();
  await parts.acts.known;
  const poisoned = createPoisoned({ ...parts, reader: 'signaller', held: new Set() });
  const { log, judgeEvent } = parts;
  const signaller = await loadSignaller({ log, poisoned, ...(judgeEvent === undefined ? {} : { judgeEvent }) });
  const turn = createTurn();
  const covering = createProgress({ ...parts, name: 'signaller', intervalMs: PROGRESS_INTERVAL_MS }, (sequence) =>
    positions.write({ RECORD: sequence }),
  );
  let judged = 0;
  const restarting = createProgress({ ...parts, name: 'signaller', intervalMs: SNAPSHOT_INTERVAL_MS }, () =>
    turn.run(async () => {
      const upTo = judged;
      await signaller.snapshot();
      await positions.write({ restart: poisoned.before(upTo) });
    }),
  );
  return startReading(
    parts,
    {
      name: 'signaller',
      stream: STREAMS.record,
      filters: [subjects.allTrajectories],
      after: known.restart ?? 0,
    },
    (batch) =>
      turn.run(async () => {
        await signaller.judge(batch.messages);
        judged = batch.messages.at(-1)?.sequence ?? judged;
      }),
    (sequence) => {
      covering.note(sequence);
      restarting.note(sequence);
    },
  );
}

/** Publishes what was recorded under the public subjects. */
export async function startFeed(parts: DutyParts): Promise<ReadLoop> {
  const positions = createPositions(parts.log, 'feed');
  const known = await positions.read();
  await parts.acts.known;
  const poisoned = createPoisoned({ ...parts, reader: 'feed', held: new Set() });
  const progress = createProgress({ ...parts, name: 'feed', intervalMs: POSITION_INTERVAL_MS }, (sequence) =>
    positions.write({ RECORD: sequence }),
  );
  return startReading(
    parts,
    {
      name: 'feed',
      stream: STREAMS.record,
      filters: [subjects.allTrajectories, subjects.allSignals],
      after: known.RECORD ?? 0,
    },
    (batch) => announce(parts.log, batch.messages, poisoned),
    (sequence) => progress.note(poisoned.before(sequence)),
  );
}
