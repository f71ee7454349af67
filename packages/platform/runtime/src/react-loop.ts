import {
  type ConsumerDeclaration,
  type Delivered,
  type EventLog,
  type LogMessage,
  StreamRecreated,
} from '@headway/eventlog';
import { type Backoff, backoffDelay, defaultBackoff, type Pause, pause } from './backoff.ts';
import { describeError } from './describe-error.ts';
import { createLanes } from './lanes.ts';
import type { Logger } from './logger.ts';

/**
 * What the handler made of a message. `retry` puts it back for a while; `dead-letter` keeps it with the reason and goes
 * on; `stop` puts it back and ends the loop.
 */
export type Reacted =
  | { readonly answer: 'ack' }
  | { readonly answer: 'retry'; readonly reason: string; readonly afterMs?: number }
  | { readonly answer: 'dead-letter'; readonly reason: string }
  | { readonly answer: 'stop'; readonly reason: string };

export const reacted = {
  ack: { answer: 'ack' } as Reacted,
  retry: (reason: string, afterMs?: number): Reacted => ({
    answer: 'retry',
    reason,
    ...(afterMs === undefined ? {} : { afterMs }),
  }),
  deadLetter: (reason: string): Reacted => ({ answer: 'dead-letter', reason }),
  stop: (reason: string): Reacted => ({ answer: 'stop', reason }),
} as const;

export interface ReactLoopOptions {
  /** For log lines and readiness. */
  readonly name: string;
  readonly log: Pick<EventLog, 'react'>;
  /** A declared consumer (see `DECLARED_CONSUMERS` of eventlog), provisioned with the streams. */
  readonly consumer: ConsumerDeclaration;
  /**
   * Acts on one message and answers after its own commit. It has to bear a message that it has seen before: be idempotent
   * by the event's id. A thrown error counts as a retry, for ever and with growing delays: only what the handler knows to
   * be beyond help is a dead letter.
   */
  readonly handle: (message: LogMessage, deliveries: number) => Promise<Reacted> | Reacted;
  /** Keeps a message for a person, durably and idempotently. Where it throws the message is tried again. */
  readonly deadLetter: (message: LogMessage, reason: string) => Promise<void>;
  /** Messages of one key are handled one after the other, also where one is put back. The subject unless told. */
  readonly keyOf?: (message: LogMessage) => string;
  /** Messages of different keys handled at once; 1 unless told, at most {@link REACT_AT_ONCE}. */
  readonly atOnce?: number;
  readonly signal: AbortSignal;
  readonly logger?: Logger;
  /** Delays between deliveries of one message. */
  readonly backoff?: Backoff;
  /** A number in [0, 1) for jitter. */
  readonly random?: () => number;
  readonly pause?: Pause;
}

/** How it is going, for readiness and metrics. */
export interface ReactLoopState {
  readonly handled: number;
  readonly retries: number;
  readonly deadLetters: number;
  /** Messages in hand now. */
  readonly inHand: number;
  /** Why the newest message that was put back was; `null` once another was handled. */
  readonly lastError: string | null;
}

export type ReactLoopEnd =
  | { readonly ended: 'aborted' }
  | { readonly ended: 'stopped'; readonly reason: string }
  | { readonly ended: 'recreated'; readonly reason: string };

export interface ReactLoop {
  state(): ReactLoopState;
  /** Settles when the loop has ended and nothing is in hand; never rejects. */
  readonly ended: Promise<ReactLoopEnd>;
}

export const REACT_AT_ONCE = 256;

/**
 * The loop of everything that acts. Order holds within one key as long as one process reacts: what comes after a message
 * that was put back waits for it. Across processes, and after a restart, only the handler's own state keeps order.
 */
export function reactLoop(options: ReactLoopOptions): ReactLoop {
  const { atOnce = 1 } = options;
  if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > REACT_AT_ONCE)
    throw new RangeError(`atOnce is ${atOnce}: set it to 1 to ${REACT_AT_ONCE}`);
  const state = { handled: 0, retries: 0, deadLetters: 0, inHand: 0, lastError: null as string | null };
  return { state: () => ({ ...state }), ended: run(options, atOnce, state) };
}

type Running = { -readonly [Member in keyof ReactLoopState]: ReactLoopState[Member] };

async function run(options: ReactLoopOptions, atOnce: number, state: Running): Promise<ReactLoopEnd> {
  const { log, consumer, signal } = options;
  const stopping = new AbortController();
  const ended = AbortSignal.any([signal, stopping.signal]);
  const lanes = createLanes(atOnce);
  const settle = settler(options, state);
  let end: ReactLoopEnd = { ended: 'aborted' };
  let failures = 0;
  while (!ended.aborted) {
    try {
      for await (const delivered of log.react({ consumer, signal: ended })) {
        failures = 0;
        await lanes.start(keyOf(options, delivered), async () => {
          const stop = ended.aborted ? putBack(delivered) : await settle(delivered);
          if (stop === null) return;
          end = { ended: 'stopped', reason: stop };
          stopping.abort();
        });
      }
    } catch (error) {
      if (error instanceof StreamRecreated) {
        end = { ended: 'recreated', reason: error.message };
        break;
      }
      failures += 1;
      state.lastError = describeError(error);
      options.logger?.warn({ err: error, reactor: options.name }, 'reacting is held up');
      await (options.pause ?? pause)(delayOf(options, failures), ended);
    }
  }
  await lanes.idle();
  return end;
}

const keyOf = ({ keyOf: own }: ReactLoopOptions, { message }: Delivered) => own?.(message) ?? message.subject;

function putBack(delivered: Delivered): null {
  delivered.retry(0);
  return null;
}

/** Handles one delivery and settles it; answers with the reason where the loop is to stop. */
function settler(options: ReactLoopOptions, state: Running) {
  const before = createPutBack(options.consumer.ackWaitSeconds * 1_000);
  return async (delivered: Delivered): Promise<string | null> => {
    const { message, deliveries } = delivered;
    const key = keyOf(options, delivered);
    const wait = before.behind(key, message.sequence);
    if (wait !== null) {
      before.add(key, message.sequence, wait);
      delivered.retry(wait);
      return null;
    }
    state.inHand += 1;
    const keeping = setInterval(() => delivered.working(), (options.consumer.ackWaitSeconds * 1_000) / 3);
    try {
      const answer = await callHandler(options, message, deliveries);
      if (answer.answer === 'ack' || answer.answer === 'dead-letter') {
        if (answer.answer === 'dead-letter') state.deadLetters += 1;
        else state.handled += 1;
        state.lastError = null;
        before.remove(key, message.sequence);
        delivered.ack();
        return null;
      }
      const delay = answer.answer === 'stop' ? 0 : (answer.afterMs ?? delayOf(options, deliveries));
      state.retries += 1;
      state.lastError = answer.reason;
      before.add(key, message.sequence, delay);
      delivered.retry(delay);
      options.logger?.warn({ reactor: options.name, sequence: message.sequence, ...answer }, 'a message was put back');
      return answer.answer === 'stop' ? answer.reason : null;
    } finally {
      clearInterval(keeping);
      state.inHand -= 1;
    }
  };
}

/** A dead letter counts once it is kept; where that fails it is a retry. */
async function callHandler(options: ReactLoopOptions, message: LogMessage, deliveries: number): Promise<Reacted> {
  try {
    const answer = await options.handle(message, deliveries);
    if (answer.answer === 'dead-letter') {
      await options.deadLetter(message, answer.reason);
      options.logger?.error({ reactor: options.name, sequence: message.sequence, ...answer }, 'a dead letter');
    }
    return answer;
  } catch (error) {
    options.logger?.error({ err: error, reactor: options.name, sequence: message.sequence }, 'the handler broke');
    return reacted.retry(describeError(error));
  }
}

const delayOf = ({ backoff = defaultBackoff, random = Math.random }: ReactLoopOptions, failures: number) =>
  backoffDelay(failures, backoff, random());

/**
 * What was put back, by key: nothing later of the key is handled before it. Forgotten when it is long overdue: then
 * another process has handled it.
 */
function createPutBack(ackWaitMs: number) {
  const byKey = new Map<string, Map<number, { readonly due: number; readonly overdue: number }>>();
  return {
    add(key: string, sequence: number, afterMs: number) {
      const due = Date.now() + afterMs;
      const waiting = byKey.get(key) ?? new Map();
      byKey.set(key, waiting.set(sequence, { due, overdue: due + 2 * ackWaitMs }));
    },
    remove(key: string, sequence: number) {
      const waiting = byKey.get(key);
      waiting?.delete(sequence);
      if (waiting?.size === 0) byKey.delete(key);
    },
    /** How long a message has to wait for one before it; `null` = it is the first. */
    behind(key: string, sequence: number): number | null {
      const now = Date.now();
      let wait: number | null = null;
      for (const [earlier, { due, overdue }] of byKey.get(key) ?? []) {
        if (overdue < now) byKey.get(key)?.delete(earlier);
        else if (earlier < sequence) wait = Math.max(wait ?? 1, due - now);
      }
      return wait;
    },
  };
}
