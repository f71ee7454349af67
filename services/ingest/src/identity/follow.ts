import {
  type EvidenceCommit,
  identityKey,
  parseSubject,
  STREAMS,
  type StreamPosition,
  subjects,
} from '@headway/contracts';
import type { EventLog, LogMessage, StreamDescription } from '@headway/eventlog';
import { type CheckResult, handled, type Logger, pause, type ReadLoop, readLoop } from '@headway/runtime';
import type { IdentityArchive } from '../ports.ts';
import type { RecentIndex } from './known.ts';

/** How often the archive is asked how far it is. */
export const ARCHIVE_POLL_MS = 1_000;
/** How long a request waits for the index to reach the end of the log. */
const CATCH_UP_MS = 5_000;
const CATCH_UP_POLL_MS = 20;

export interface FollowOptions {
  readonly log: EventLog;
  readonly archive: IdentityArchive;
  readonly recent: RecentIndex;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called every {@link ARCHIVE_POLL_MS}, after the archive was asked. */
  readonly onPoll?: () => Promise<void>;
}

export interface Following {
  /** Whether every identity in the log is known: only then may anything be taken. */
  ready(): CheckResult;
  /** Waits until the index has read to what is the end of the log now; `false` = not within the time for it. */
  caughtUp(): Promise<boolean>;
  /** Settles when following has ended for good, with the reason; `null` = it was aborted. */
  readonly ended: Promise<string | null>;
}

/**
 * Keeps the recent index true: reads EVIDENCE from the archive's position to its end, then follows it, and forgets what
 * the archive has come to cover. Throws where the archive or the log cannot be asked, or do not belong together.
 */
export async function followEvidence(options: FollowOptions): Promise<Following> {
  const { log, archive, recent, logger, signal } = options;
  const description = await log.describe(STREAMS.evidence);
  let archived = await archive.archived();
  const state = { reachedEnd: false, heldUp: false, archiveError: null as string | null };

  const loop: ReadLoop = readLoop({
    name: 'identities',
    log,
    stream: STREAMS.evidence,
    filters: [subjects.allEvidence],
    after: startAfter(description, archived),
    signal,
    logger,
    handle({ messages, caughtUp }) {
      // The index is bounded: where the archive is too far behind, reading waits for it.
      state.heldUp = recent.full;
      if (state.heldUp) return handled.retry('the archive is too far behind', ARCHIVE_POLL_MS);
      for (const message of messages) enterMessage(recent, message, logger);
      state.reachedEnd ||= caughtUp;
      return handled.ok;
    },
  });

  const poll = async () => {
    while (!signal.aborted) {
      await pause(ARCHIVE_POLL_MS, signal);
      if (signal.aborted) return;
      try {
        archived = await archive.archived();
        recent.trim(archived);
        state.archiveError = null;
      } catch (error) {
        state.archiveError = error instanceof Error ? error.message : String(error);
        logger.warn({ err: error }, 'the archive cannot be asked');
      }
      await options.onPoll?.().catch((error: unknown) => logger.warn({ err: error }, 'housekeeping failed'));
    }
  };
  void poll();

  return {
    ready() {
      const { position, lastError } = loop.state();
      const detail = { position, archived: archived.sequence, entries: recent.size };
      if (recent.full || state.heldUp)
        return {
          ready: false,
          reason: 'the archive is too far behind to know every identity; is projection running?',
          detail,
        };
      if (!state.reachedEnd)
        return { ready: false, reason: lastError ?? 'the evidence since the archive is still being read', detail };
      if (state.archiveError !== null)
        return { ready: false, reason: `the archive cannot be asked: ${state.archiveError}`, detail };
      return { ready: true, detail };
    },
    async caughtUp() {
      const { lastSequence } = await log.describe(STREAMS.evidence);
      for (let waited = 0; waited < CATCH_UP_MS && !signal.aborted; waited += CATCH_UP_POLL_MS) {
        if (loop.state().position >= lastSequence) return true;
        await pause(CATCH_UP_POLL_MS, signal);
      }
      return false;
    },
    ended: loop.ended.then((end) => (end.ended === 'aborted' ? null : end.reason)),
  };
}

/** The sequence after which the archive knows nothing, in the stream as it is. */
function startAfter(
  stream: StreamDescription,
  archived: { readonly generation: number; readonly sequence: number },
): number {
  if (archived.generation < stream.generation) return 0;
  if (archived.generation > stream.generation || archived.sequence > stream.lastSequence)
    throw new Error(
      `the log lost its tail: EVIDENCE ends at generation ${stream.generation}, sequence ${stream.lastSequence}, and the archive reaches generation ${archived.generation}, sequence ${archived.sequence}; restore the log from the archive before taking more`,
    );
  return archived.sequence;
}

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
      recent.enter(identityKey(meaning.tenant, event), commit.contents[index] ?? '', position);
    });
  } catch (error) {
    logger.error({ err: error, sequence: message.sequence }, 'a message of EVIDENCE cannot be read');
  }
}
