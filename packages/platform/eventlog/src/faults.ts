import type { EventLog, NewMessage, ReadBatch, ReadOptions } from './log.ts';

/**
 * What goes wrong with one append:
 * - `answer-lost`: it is stored, and the writer is told `unavailable`;
 * - `message-lost`: it is not stored, and the writer is told `unavailable`;
 * - `conflict`: it is not stored, and the writer is told that another was faster.
 */
export type AppendFault = 'answer-lost' | 'message-lost' | 'conflict';

export interface FaultPlan {
  /** Asked before each append, with its number from 1; `null` lets it through. */
  readonly append?: (message: NewMessage, number: number) => AppendFault | null;
  /** Awaited before a reader gets its next batch, with the batch's number from 1 over all readers. */
  readonly beforeBatch?: (options: ReadOptions, number: number) => Promise<void>;
}

/** A log that does to its users what a network and a server may do, as planned; it keeps every promise of the port. */
export function withFaults(log: EventLog, plan: FaultPlan): EventLog {
  let appends = 0;
  let batches = 0;
  return {
    async append(message) {
      appends += 1;
      const fault = plan.append?.(message, appends) ?? null;
      if (fault === 'message-lost') return { outcome: 'unavailable', reason: 'fault: the message was lost' };
      if (fault === 'conflict') return { outcome: 'conflict', reason: 'fault: another was faster', lastSequence: null };
      const outcome = await log.append(message);
      if (fault === 'answer-lost' && outcome.outcome !== 'conflict')
        return { outcome: 'unavailable', reason: 'fault: the answer was lost' };
      return outcome;
    },
    async *read(options): AsyncGenerator<ReadBatch> {
      for await (const batch of log.read(options)) {
        batches += 1;
        await plan.beforeBatch?.(options, batches);
        if (options.signal.aborted) return;
        yield batch;
      }
    },
    react: (options) => log.react(options),
    last: (stream, subject) => log.last(stream, subject),
    at: (stream, sequence) => log.at(stream, sequence),
    newestOfEach: (stream, filter) => log.newestOfEach(stream, filter),
    describe: (stream) => log.describe(stream),
    close: () => log.close(),
  };
}
