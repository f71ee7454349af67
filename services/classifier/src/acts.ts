import { type ActCommit, parseLetterId, STREAMS, subjects } from '@headway/contracts';
import type { EventLog, LogMessage } from '@headway/eventlog';
import { handled, type Logger, readLoop } from '@headway/runtime';

/** The messages that operators have dropped, by the ids of their dead letters. */
export type Dropped = ReadonlySet<string>;

/** What operators have said about dead letters of this service. */
export interface Acts {
  readonly dropped: Dropped;
  /** The sequence of ACTS up to which all is known. */
  knownUpTo(): number;
  /** Settles when everything that operators had said before the start is known, or the signal aborts. */
  readonly known: Promise<void>;
  /** Settles at the next retry or drop: the works are to be read again from where they stand. */
  next(): Promise<void>;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/** Reads ACTS from its beginning on: there are few, and what is dropped holds as long as the act stands there. */
export function followActs(parts: {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}): Acts {
  const { log, logger, signal } = parts;
  const dropped = new Set<string>();
  let upTo = 0;
  const known = Promise.withResolvers<void>();
  let changed = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => known.resolve());
  const take = (message: LogMessage) => {
    const act = readAct(message);
    if (act === null) return false;
    if (act.dropped) dropped.add(act.letter);
    return true;
  };
  const follow = async () => {
    while (!signal.aborted) {
      const loop = readLoop({
        name: 'acts',
        log,
        stream: STREAMS.acts,
        filters: [subjects.allActs],
        after: 0,
        handle: ({ messages, caughtUp }) => {
          const concerned = messages.filter(take).length > 0;
          upTo = messages.at(-1)?.sequence ?? upTo;
          if (caughtUp) known.resolve();
          if (concerned) {
            changed.resolve();
            changed = Promise.withResolvers();
          }
          return handled.ok;
        },
        signal,
        logger,
      });
      const end = await loop.ended;
      if (end.ended !== 'aborted') logger.warn({ ...end }, 'reading the acts from their beginning again');
    }
  };
  return { dropped, knownUpTo: () => upTo, known: known.promise, next: () => changed.promise, ended: follow() };
}

/** The retry or drop of a dead letter of this service; `null` for every other act, and for what cannot be read. */
function readAct({ payload }: LogMessage): { readonly letter: string; readonly dropped: boolean } | null {
  try {
    const [act] = (JSON.parse(Buffer.from(payload).toString('utf8')) as ActCommit).events;
    if (act.type !== 'headway.dead-letter.retried' && act.type !== 'headway.dead-letter.dropped') return null;
    const reader = parseLetterId(act.data.letter)?.reader;
    if (reader === undefined || reader === 'projection') return null;
    return { letter: act.data.letter, dropped: act.type === 'headway.dead-letter.dropped' };
  } catch {
    return null;
  }
}
