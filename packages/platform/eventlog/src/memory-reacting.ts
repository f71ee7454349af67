import { type LogMessage, StreamRecreated } from './log.ts';
import type { Delivered, ReactOptions } from './reacting.ts';
import { matches } from './subject.ts';

/** What a durable consumer knows: what was delivered and is not acknowledged. */
export interface MemoryConsumer {
  /** The last sequence that was looked at for the first time. */
  looked: number;
  readonly underWay: Map<number, { readonly again: number; readonly deliveries: number }>;
}

/** The part of a stream in memory that reacting needs. */
export interface ReactedStream {
  readonly messages: readonly LogMessage[];
  readonly watchers: Set<() => void>;
  readonly consumers: Map<string, MemoryConsumer>;
}

/** Deliveries of a durable consumer of a stream in memory. A consumer begins with the first who reacts under its name. */
export async function* reactInMemory<Stream extends ReactedStream>(
  streamNow: () => Stream,
  { consumer: declared, signal }: ReactOptions,
  closing: AbortSignal,
): AsyncGenerator<Delivered> {
  const stream = streamNow();
  const consumer = stream.consumers.get(declared.name) ?? { looked: 0, underWay: new Map() };
  stream.consumers.set(declared.name, consumer);
  const wakeAll = () => {
    for (const wake of stream.watchers) wake();
  };
  while (!signal.aborted && !closing.aborted) {
    if (streamNow() !== stream) throw new StreamRecreated(`${declared.stream} was created anew`);
    const sequence = nextDue(stream, consumer, declared.filter, declared.underWay);
    if (sequence === null) {
      await somethingDue(stream, consumer, signal, closing);
      continue;
    }
    const deliveries = (consumer.underWay.get(sequence)?.deliveries ?? 0) + 1;
    const due = (afterMs: number) => consumer.underWay.set(sequence, { again: Date.now() + afterMs, deliveries });
    due(declared.ackWaitSeconds * 1_000);
    yield {
      message: stream.messages[sequence - 1] as LogMessage,
      deliveries,
      ack: () => {
        consumer.underWay.delete(sequence);
        wakeAll();
      },
      retry: (afterMs) => {
        due(afterMs);
        wakeAll();
      },
      working: () => {
        if (consumer.underWay.has(sequence)) due(declared.ackWaitSeconds * 1_000);
      },
    };
  }
}

function nextDue(stream: ReactedStream, consumer: MemoryConsumer, filter: string, most: number): number | null {
  const now = Date.now();
  const due = [...consumer.underWay].filter(([, { again }]) => again <= now).map(([sequence]) => sequence);
  if (due.length > 0) return Math.min(...due);
  if (consumer.underWay.size >= most) return null;
  while (consumer.looked < stream.messages.length) {
    consumer.looked += 1;
    if (matches(filter, stream.messages[consumer.looked - 1]?.subject ?? '')) return consumer.looked;
  }
  return null;
}

/** Resolves when there may be something to deliver. */
function somethingDue(stream: ReactedStream, consumer: MemoryConsumer, ...ends: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const next = Math.min(...[...consumer.underWay.values()].map(({ again }) => again));
    const timer = Number.isFinite(next) ? setTimeout(() => wake(), Math.max(1, next - Date.now())) : undefined;
    const wake = () => {
      clearTimeout(timer);
      stream.watchers.delete(wake);
      for (const end of ends) end.removeEventListener('abort', wake);
      resolve();
    };
    stream.watchers.add(wake);
    for (const end of ends) end.addEventListener('abort', wake);
    if (ends.some((end) => end.aborted)) wake();
  });
}
