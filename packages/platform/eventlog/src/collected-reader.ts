import type { EventLog, LogMessage, ReadOptions } from './log.ts';

/** Collects what a reader gives, until it is stopped. */
export function collect(log: EventLog, options: Omit<ReadOptions, 'signal' | 'batch'> & { batch?: number }) {
  const stopping = new AbortController();
  const messages: LogMessage[] = [];
  const batches: number[] = [];
  let caughtUp = 0;
  const ended = (async () => {
    for await (const batch of log.read({ batch: 100, ...options, signal: stopping.signal })) {
      messages.push(...batch.messages);
      batches.push(batch.messages.length);
      if (batch.caughtUp) caughtUp += 1;
    }
  })();
  ended.catch(() => {});
  return {
    messages,
    batches,
    /** How often the reader said that it had caught up. */
    timesCaughtUp: () => caughtUp,
    texts: () => messages.map(({ payload }) => Buffer.from(payload).toString('utf8')),
    /** Rejects with what the reader threw. */
    ended,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
