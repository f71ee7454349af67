import {
  type EvidenceCommit,
  identityKey,
  mayStandUnder,
  type Problem,
  parseSubject,
  problem,
  STREAMS,
  type StreamPosition,
  subjects,
} from '@headway/contracts';
import type { EventLog, LogMessage } from '@headway/eventlog';
import { type CheckResult, handled, type Logger, pause, type ReadLoop, readLoop } from '@headway/runtime';
import type { BusLevel, IdentityArchive } from '../ports.ts';
import { ARCHIVE_LAG_MS, type ArchiveLag } from './archive-lag.ts';
import type { Heads } from './heads.ts';
import type { RecentIndex } from './known.ts';

/** How often the archive is asked how far it is. */
export const ARCHIVE_POLL_MS = 1_000;
/** How long a request waits for the index to reach a place in the log. */
const CATCH_UP_MS = 5_000;

export interface FollowOptions {
  readonly log: EventLog;
  readonly archive: IdentityArchive;
  readonly level: BusLevel;
  readonly recent: RecentIndex;
  readonly heads: Heads;
  readonly lag: ArchiveLag;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called before the log is read anew, where it may be another one. */
  readonly onRestart: () => void;
  /** Called every {@link ARCHIVE_POLL_MS}, after the archive was asked. */
  readonly onPoll: () => Promise<void>;
}

export interface Following {
  /** Whether every identity in the log is known: only then may anything be taken. */
  ready(): CheckResult;
  /** Why nothing can be taken at the moment, or `null`. */
  unready(): Problem | null;
  /** Waits until the index has read up to a sequence; `false` = not within the time for it. */
  readUpTo(sequence: number): Promise<boolean>;
  /** The same, up to what is the end of the log now. */
  caughtUp(): Promise<boolean>;
  /** Settles when the signal has aborted. */
  readonly ended: Promise<void>;
}

interface Reading {
  readonly loop: ReadLoop;
  reached: number;
  reachedEnd: boolean;
  heldUp: boolean;
}

/**
 * Keeps the recent index true: reads EVIDENCE from the archive's position to its end, then follows it, and forgets what
 * the archive has come to cover. Where the log is not the one that was archived nothing is read before it is put back;
 * then everything in memory is dropped and read anew.
 */
export function followEvidence(options: FollowOptions): Following {
  const { log, archive, level, recent, heads, lag, logger, signal } = options;
  const waiting = new Set<() => void>();
  const state = {
    reading: null as Reading | null,
    archived: 0,
    lost: null as string | null,
    trouble: 'the archive has not been asked yet' as string | null,
  };
  const wake = () => {
    for (const look of [...waiting]) look();
  };

  /** Reads until the log turns out to be another one; throws where the log or the store cannot be asked. */
  const readOnce = async () => {
    state.lost = await level.check();
    if (state.lost !== null) return;
    const { generation, sequence } = await archive.archived();
    state.archived = sequence;
    options.onRestart();
    lag.archivedUpTo(sequence);
    const round = new AbortController();
    const ends = AbortSignal.any([signal, round.signal]);
    const loop = readLoop({
      name: 'identities',
      log,
      stream: STREAMS.evidence,
      filters: [subjects.allEvidence],
      after: sequence,
      signal: ends,
      logger,
      handle({ messages, caughtUp }) {
        // The index is bounded: where the archive is too far behind, reading waits for it.
        reading.heldUp = recent.full;
        if (reading.heldUp) return handled.retry('the archive is too far behind', ARCHIVE_POLL_MS);
        for (const message of messages) {
          // Most of it this process wrote itself, a moment ago.
          if (!heads.covers(message.subject, message.sequence)) {
            enterMessage(recent, message, logger);
            heads.read(message.subject, message.sequence);
          }
          lag.read(message.sequence, message.recordedAt);
          reading.reached = message.sequence;
        }
        reading.reachedEnd ||= caughtUp;
        wake();
        return handled.ok;
      },
    });
    const reading: Reading = { loop, reached: sequence, reachedEnd: false, heldUp: false };
    state.reading = reading;
    state.trouble = null;
    logger.info({ generation, after: sequence }, 'following the evidence');
    await Promise.race([loop.ended, pollUntilLost(ends)]);
    state.reading = null;
    wake();
    round.abort();
    const end = await loop.ended;
    if (end.ended !== 'aborted') logger.warn({ ...end }, 'the log is not the one that was followed');
  };

  const pollUntilLost = async (ends: AbortSignal) => {
    while (!ends.aborted) {
      await pause(ARCHIVE_POLL_MS, ends);
      if (ends.aborted) return;
      try {
        const archived = await archive.archived();
        state.archived = archived.sequence;
        recent.trim(archived);
        lag.archivedUpTo(archived.sequence);
        state.trouble = null;
      } catch (error) {
        state.trouble = `the archive cannot be asked: ${describe(error)}`;
        logger.warn({ err: error }, 'the archive cannot be asked');
      }
      state.lost = await level.check().catch(() => state.lost);
      if (state.lost !== null) return;
      await options.onPoll().catch((error: unknown) => logger.warn({ err: error }, 'housekeeping failed'));
    }
  };

  const live = async () => {
    while (!signal.aborted) {
      try {
        await readOnce();
      } catch (error) {
        state.trouble = describe(error);
        logger.warn({ err: error }, 'the evidence cannot be followed');
      }
      if (!signal.aborted) await pause(ARCHIVE_POLL_MS, signal);
    }
  };

  const readUpTo = (sequence: number): Promise<boolean> =>
    new Promise((resolve) => {
      const reading = state.reading;
      const settle = (reached: boolean) => {
        clearTimeout(timer);
        waiting.delete(look);
        signal.removeEventListener('abort', give);
        resolve(reached);
      };
      const give = () => settle(false);
      const look = () => {
        if (reading === null || state.reading !== reading) settle(false);
        else if (reading.reached >= sequence) settle(true);
      };
      const timer = setTimeout(give, CATCH_UP_MS);
      waiting.add(look);
      signal.addEventListener('abort', give);
      if (signal.aborted) give();
      else look();
    });

  const lostNow = () => state.lost ?? level.lost();
  const reasonNow = (): string | null => {
    if (lostNow() !== null) return lostNow();
    const { reading, trouble } = state;
    if (reading === null) return trouble ?? 'the log is being read anew';
    if (recent.full || reading.heldUp)
      return 'the archive is too far behind to know every identity; is projection running?';
    if (!reading.reachedEnd)
      return reading.loop.state().lastError ?? 'the evidence since the archive is still being read';
    if (behind()) return `the archive is ${Math.round(lag.lag() / 1_000)} s behind the log; is projection running?`;
    return trouble;
  };
  const behind = () => lag.lag() > ARCHIVE_LAG_MS;

  return {
    ready() {
      const reason = reasonNow();
      const { reading, archived } = state;
      const detail = {
        position: reading?.reached ?? null,
        archived,
        archiveLagMs: Math.round(lag.lag()),
        entries: recent.size,
      };
      return reason === null ? { ready: true, detail } : { ready: false, reason, detail };
    },
    unready() {
      const lost = lostNow();
      if (lost !== null)
        return problem(
          'log_lost_tail',
          `Nothing can be taken before the log is put back: ${lost}. An operator runs \`headway bus restore\`, see docs/guides/restoring-the-bus.md. Send it again after that.`,
        );
      const reason = reasonNow();
      if (reason === null) return null;
      return problem(
        behind() ? 'archive_behind' : 'store_unavailable',
        `Nothing can be taken at the moment: ${reason}. Send it again.`,
      );
    },
    readUpTo,
    caughtUp: async () => readUpTo((await log.describe(STREAMS.evidence)).lastSequence),
    ended: live(),
  };
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function enterMessage(recent: RecentIndex, message: LogMessage, logger: Logger): void {
  const meaning = parseSubject(message.subject);
  if (meaning?.kind !== 'evidence') return;
  const position: StreamPosition = {
    stream: message.stream,
    generation: message.generation,
    sequence: message.sequence,
  };
  try {
    const commit = JSON.parse(Buffer.from(message.payload).toString('utf8')) as EvidenceCommit;
    commit.events.forEach((event, index) => {
      if (!mayStandUnder(meaning, event)) return;
      recent.enter(identityKey(meaning.tenant, event), commit.contents[index] ?? '', position);
    });
  } catch (error) {
    logger.error({ err: error, sequence: message.sequence }, 'a message of EVIDENCE cannot be read');
  }
}
