import type { Claims } from '@headway/claims';
import type { EventLog } from '@headway/eventlog';
import type { Logger, ReadLoop } from '@headway/runtime';
import { followActs } from './acts.ts';
import type { ReadCommit } from './assess-evidence.ts';
import { type DutyParts, startAssessing, startFeed, startSignalling } from './duties.ts';
import { createOwnership, type Duties, noDuties, RENEWAL_SECONDS, sameDuties } from './ownership.ts';

/** Wait before the duties are taken up again after a loop had to stop. */
const RESTART_MS = 200;

export interface ReplicaParts {
  readonly log: EventLog;
  readonly claims: Claims;
  /** Names this process among the replicas; never used again by another one. */
  readonly holder: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly renewalSeconds?: number;
  readonly readCommit?: ReadCommit;
  readonly judgeEvent?: DutyParts['judgeEvent'];
  readonly judgmentSeconds?: number;
  /** Whether the log is the one that was archived: nothing is written to another one. */
  readonly level?: BusLevel;
}

/** See `createLevel` of the read model. */
export interface BusLevel {
  /** `null` = it is. Throws where it cannot be asked. */
  check(): Promise<string | null>;
  lost(): string | null;
}

/** How often the level is looked at while duties are done. */
const LEVEL_MS = 1_000;

/** One replica of the classifier: does what it owns, and takes up its duties anew when they change or it was fenced. */
export interface Replica {
  /** Why it is not getting on; `null` = it is. For readiness. */
  trouble(): string | null;
  duties(): Duties;
  /** Times another process turned out to own what this one wrote. */
  fenced(): number;
  /** Messages that each reader has not handled yet. */
  lags(): Promise<{ readonly value: number; readonly labels: { readonly reader: string } }[]>;
  /** Works that stand still at a message that cannot be folded. */
  held(): number;
  readonly ended: Promise<void>;
}

export function startReplica(parts: ReplicaParts): Replica {
  const ownership = createOwnership(parts.claims, parts.holder, parts.logger);
  const acts = followActs(parts);
  const state = {
    duties: noDuties,
    loops: [] as ReadLoop[],
    held: new Set<string>(),
    trouble: 'taking up its duties' as string | null,
    fenced: 0,
  };

  const live = async () => {
    while (!parts.signal.aborted) {
      state.duties = await ownership.review();
      await serve(state.duties);
    }
    await ownership.resign();
  };

  /** Runs the loops of the duties until these change, a loop stops, or the replica ends. */
  const serve = async (duties: Duties) => {
    const round = new AbortController();
    const signal = AbortSignal.any([parts.signal, round.signal]);
    try {
      const lost = (await parts.level?.check()) ?? null;
      if (lost !== null) throw new Error(`the log has to be put back first (headway bus restore): ${lost}`);
      // Asked for before anything is read, so that no act falls in between.
      const acted = acts.next();
      const again = Promise.withResolvers<void>();
      state.held = new Set();
      await startLoops({ ...parts, acts, held: state.held, signal, again: again.resolve }, duties, state.loops);
      state.trouble = null;
      await Promise.race([
        reviewUntilChanged(duties, signal),
        acted,
        again.promise,
        untilLost(signal),
        ...state.loops.map((loop) => ending(loop)),
      ]);
    } catch (error) {
      state.trouble = `the duties could not be taken up: ${error instanceof Error ? error.message : String(error)}`;
      parts.logger.error({ err: error }, 'the duties could not be taken up');
      await wait(RESTART_MS, parts.signal);
    } finally {
      round.abort();
      await Promise.all(state.loops.map((loop) => loop.ended));
      state.loops = [];
    }
  };

  const ending = async (loop: ReadLoop) => {
    const end = await loop.ended;
    if (end.ended === 'aborted') return;
    if (end.ended === 'stopped') state.fenced += 1;
    parts.logger.warn({ ...end }, 'starting anew from what is recorded');
    await wait(RESTART_MS, parts.signal);
  };

  const reviewUntilChanged = async (duties: Duties, signal: AbortSignal) => {
    while (!signal.aborted) {
      await wait((parts.renewalSeconds ?? RENEWAL_SECONDS) * 1_000, signal);
      if (signal.aborted || !sameDuties(duties, await ownership.review())) return;
    }
  };

  const untilLost = async (signal: AbortSignal) => {
    const { level } = parts;
    if (level === undefined) return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    while (!signal.aborted) {
      await wait(LEVEL_MS, signal);
      // While the store is away only what the log itself shows is known.
      const lost = level.lost() ?? (await level.check().catch(() => null));
      if (lost === null) continue;
      state.trouble = lost;
      parts.logger.error({ lost }, 'the log lost its tail: nothing is written before it is put back');
      return;
    }
  };

  return {
    trouble: () => {
      if (state.trouble !== null) return state.trouble;
      return state.loops.map((loop) => loop.state().lastError).find((error) => error !== null) ?? null;
    },
    duties: () => state.duties,
    fenced: () => state.fenced,
    lags: () =>
      Promise.all(state.loops.map(async (loop) => ({ value: await loop.lag(), labels: { reader: loop.name } }))),
    held: () => state.held.size,
    ended: Promise.all([live(), acts.ended]).then(() => undefined),
  };
}

/** Adds each loop as it is started, so that those are known also where a later one cannot be. */
async function startLoops(
  parts: ReplicaParts & Pick<DutyParts, 'acts' | 'held' | 'again'>,
  duties: Duties,
  loops: ReadLoop[],
): Promise<void> {
  if (duties.partitions.size > 0) loops.push(...(await startAssessing(parts, duties)));
  if (duties.signaller) loops.push(await startSignalling(parts));
  if (duties.feed) loops.push(await startFeed(parts));
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}
