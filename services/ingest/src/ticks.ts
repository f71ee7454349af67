import { encodeRecord, PARTITIONS, subjects } from '@headway/contracts';
import type { EventLog } from '@headway/eventlog';
import type { Clock } from '@headway/kernel';
import type { Logger, Pause } from '@headway/runtime';
import { OWN_SOURCE } from './intake/report.ts';

export interface TicksOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly pause: Pause;
  /** Seconds between ticks; 0 = none. */
  readonly everySeconds: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Posts a tick to each partition at every multiple of the interval. The message id is made of partition and multiple, so
 * that replicas post one between them. A tick that the log did not take is not made up for: nothing counts missed ones.
 */
export async function tickForEver(options: TicksOptions): Promise<void> {
  const { clock, pause, everySeconds, signal, logger } = options;
  if (everySeconds === 0) return;
  const everyMs = everySeconds * 1_000;
  let last = Math.floor(clock.now() / everyMs);
  while (!signal.aborted) {
    await pause(Math.max(1, (last + 1) * everyMs - clock.now()), signal);
    if (signal.aborted) return;
    const multiple = Math.floor(clock.now() / everyMs);
    // Timers may fire early, and a clock may be set back.
    if (multiple <= last) continue;
    last = multiple;
    const missed = await postTicks(options.log, multiple, everyMs);
    if (missed > 0) logger.warn({ missed, of: PARTITIONS }, 'the log did not take every tick');
  }
}

/** Gives how many partitions did not get theirs. */
export async function postTicks(log: EventLog, multiple: number, everyMs: number): Promise<number> {
  const time = new Date(multiple * everyMs).toISOString();
  const answers = await Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) => {
      const id = `tick.${partition}.${multiple}`;
      const tick = {
        specversion: '1.0',
        id,
        source: OWN_SOURCE,
        type: 'headway.monitor.ticked',
        time,
        data: {} as Record<string, never>,
      } as const;
      return log.append({
        subject: subjects.tick(partition),
        messageId: id,
        payload: encodeRecord({ v: 1, events: [tick] }),
      });
    }),
  );
  return answers.filter(({ outcome }) => outcome !== 'appended' && outcome !== 'duplicate').length;
}
