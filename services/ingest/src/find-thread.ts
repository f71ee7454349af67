import { problem, STREAMS } from '@headway/contracts';
import type { EventLog } from '@headway/eventlog';
import { ok, refused } from '@headway/kernel';
import type { Logger, Pause } from '@headway/runtime';
import type { FindThread, SignalDirectory } from './ports.ts';

/** How long a reply waits for its signal to come into the view. Milliseconds. */
export const SIGNAL_WAIT = 3_000;
const LOOK_AGAIN = 50;

export interface FindThreadOptions {
  readonly log: Pick<EventLog, 'describe'>;
  readonly signals: SignalDirectory;
  readonly pause: Pause;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Finds the work on whose thread a signal is answered. Whoever heard of a signal on the bus may answer before the view
 * has it: then the view is waited for, up to the end of the record as it was when the reply came. Only a view that has
 * got there says that there is no such signal.
 */
export function createFindThread({ log, signals, pause, logger, signal }: FindThreadOptions): FindThread {
  return async (tenant, id) => {
    try {
      const found = await signals.threadOf(tenant, id);
      if (found !== null) return ok(found);
      const { generation, lastSequence } = await log.describe(STREAMS.record);
      for (let waited = 0; ; waited += LOOK_AGAIN) {
        const place = await signals.recorded();
        const covered = place.generation === generation && place.sequence >= lastSequence;
        // After the place: a signal that it covers is there.
        const work = await signals.threadOf(tenant, id);
        if (work !== null) return ok(work);
        if (covered)
          return refused(problem('signal_not_found', `There is no signal with the id ${JSON.stringify(id)}.`));
        if (waited >= SIGNAL_WAIT || signal.aborted)
          return refused(
            problem('not_yet', 'The signal is not in the view yet, which is behind the log. Send the reply again.'),
          );
        await pause(LOOK_AGAIN, signal);
      }
    } catch (error) {
      logger.warn({ err: error }, 'a signal cannot be looked up');
      return refused(
        problem('store_unavailable', 'The signal cannot be looked up at the moment. Send the reply again.'),
      );
    }
  };
}
