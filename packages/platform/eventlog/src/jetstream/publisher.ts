import type { StreamName } from '@headway/contracts';
import { type Msg, type MsgHdrs, type NatsConnection, headers as newHeaders } from '@nats-io/transport-node';
import { type AppendOutcome, DUPLICATE_WINDOW_SECONDS, type NewMessage } from '../log.ts';
import { checkMessage } from '../subject.ts';
import { backoff, newInbox } from './connection.ts';
import { MESSAGE_ID_HEADER, OWN_ID } from './delivery.ts';
import type { Successor } from './questions.ts';

/** Appends under way at once; more wait. */
export const DEFAULT_PUBLISH_WINDOW = 1_024;
/** Appends that may wait for room in the window; more are answered `unavailable` at once. */
const MAX_WAITING = 65_536;
/** How long one attempt waits for its acknowledgement before the message is sent again. */
const ATTEMPT_TIMEOUT_MS = 5_000;
const SWEEP_MS = 250;
const WRONG_LAST_SEQUENCE = [10071, 10164];

export interface PublisherLimits {
  /** Appends under way at once. */
  readonly window: number;
  /** How long an append is tried, in milliseconds. */
  readonly appendWithinMs: number;
}

/** What the publisher has to ask the server beside publishing. */
export interface PublisherQuestions {
  /** A number where it is known already, so that an acknowledgement is handed on at once. */
  readonly generationOf: (stream: string) => number | Promise<number>;
  /** The first message of a subject after a sequence. */
  /** Why nothing may be written to a stream now: it is not the one that was seen before. `null` = it is. */
  readonly barredFrom: (stream: StreamName) => string | null;
  /** Tells where an append stands; `false` = it cannot stand there in the stream that was seen before. */
  readonly acknowledged: (stream: StreamName, sequence: number) => boolean;
  readonly successorOf: (stream: StreamName, subject: string, after: number) => Promise<Successor | null>;
}

interface Attempted {
  readonly message: NewMessage;
  readonly stream: StreamName;
  readonly headers: MsgHdrs;
  readonly settle: (outcome: AppendOutcome) => void;
  readonly fail: (error: Error) => void;
  readonly deadline: number;
  attempts: number;
  /** Send again when this time has come without an acknowledgement. */
  again: number;
  lastTrouble: string;
}

interface Acknowledgement {
  readonly stream?: string;
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly code: number; readonly err_code?: number; readonly description?: string };
}

/**
 * Publishes with one reply inbox that collects all acknowledgements: one subscription for ever in place of one request
 * per message. A message without an id of its own gets one, so that sending it again never stores it twice.
 */
export class Publisher {
  readonly #connection: NatsConnection;
  readonly #questions: PublisherQuestions;
  readonly #limits: PublisherLimits;
  readonly #inbox: string;
  readonly #underWay = new Map<number, Attempted>();
  readonly #waiting: Attempted[] = [];
  readonly #sweeper: NodeJS.Timeout;
  readonly #idPrefix: string;
  #next = 1;
  #ownIds = 0;
  #connected = true;
  #closed = false;
  #whenIdle: (() => void)[] = [];

  constructor(connection: NatsConnection, questions: PublisherQuestions, limits: PublisherLimits) {
    if (!Number.isInteger(limits.window) || limits.window < 1)
      throw new RangeError(`a publish window of ${limits.window} messages is not a positive number`);
    if (!(limits.appendWithinMs > 0 && limits.appendWithinMs < DUPLICATE_WINDOW_SECONDS * 500))
      throw new RangeError(`appends within ${limits.appendWithinMs} ms would outlast the window of message ids`);
    this.#connection = connection;
    this.#questions = questions;
    this.#limits = limits;
    this.#inbox = newInbox(connection);
    this.#idPrefix = this.#inbox.slice(this.#inbox.lastIndexOf('.') + 1);
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, reply) => {
        if (error === null) this.#acknowledge(reply);
      },
    });
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  append(message: NewMessage): Promise<AppendOutcome> {
    const stream = checkMessage(message);
    if (this.#closed) return Promise.resolve(unavailable('the log is closed'));
    const barred = this.#questions.barredFrom(stream);
    if (barred !== null) return Promise.resolve(unavailable(barred));
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.resolve(unavailable(`${MAX_WAITING} appends are waiting already`));
    return new Promise((settle, fail) => {
      const attempted: Attempted = {
        message,
        stream,
        headers: this.#headersOf(message),
        settle,
        fail,
        deadline: Date.now() + this.#limits.appendWithinMs,
        attempts: 0,
        again: Number.POSITIVE_INFINITY,
        lastTrouble: 'not sent yet',
      };
      if (this.#underWay.size >= this.#limits.window) this.#waiting.push(attempted);
      else this.#start(attempted);
    });
  }

  /** To be called when the connection is lost: nothing is sent until it is back. */
  disconnected(): void {
    this.#connected = false;
  }

  /** To be called when the connection is back: what is unacknowledged is sent again, in its order. */
  reconnected(): void {
    this.#connected = true;
    for (const [key, attempted] of this.#underWay) this.#send(key, attempted);
  }

  /** Resolves when every append is answered. No new one is taken. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#underWay.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    clearInterval(this.#sweeper);
  }

  #headersOf({ headers = {}, messageId, expectedLastSequence }: NewMessage): MsgHdrs {
    const all = newHeaders();
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    all.set(MESSAGE_ID_HEADER, messageId ?? this.#ownId());
    if (expectedLastSequence !== undefined)
      all.set('Nats-Expected-Last-Subject-Sequence', String(expectedLastSequence));
    return all;
  }

  #ownId(): string {
    this.#ownIds += 1;
    return `${OWN_ID}${this.#idPrefix}.${this.#ownIds}`;
  }

  #start(attempted: Attempted): void {
    const key = this.#next;
    this.#next += 1;
    this.#underWay.set(key, attempted);
    this.#send(key, attempted);
  }

  #send(key: number, attempted: Attempted): void {
    attempted.again = Date.now() + ATTEMPT_TIMEOUT_MS;
    if (!this.#connected) {
      attempted.lastTrouble = 'no connection';
      return;
    }
    const barred = this.#questions.barredFrom(attempted.stream);
    if (barred !== null) {
      this.#finish(key, attempted, unavailable(barred));
      return;
    }
    const { subject, payload } = attempted.message;
    attempted.attempts += 1;
    attempted.lastTrouble = 'no acknowledgement';
    try {
      this.#connection.publish(subject, payload, { headers: attempted.headers, reply: `${this.#inbox}.${key}` });
    } catch (error) {
      this.#finish(key, attempted, unavailable(error instanceof Error ? error.message : String(error)));
    }
  }

  #acknowledge(reply: Msg): void {
    const key = Number(reply.subject.slice(this.#inbox.length + 1));
    const attempted = this.#underWay.get(key);
    if (attempted === undefined) return;
    if (reply.data.length === 0 && reply.headers?.code === 503) {
      this.#sendLater(attempted, 'no stream takes this subject, or JetStream is not ready');
      return;
    }
    const answer = reply.json<Acknowledgement>();
    if (answer.error !== undefined) this.#refuse(key, attempted, answer.error);
    else this.#confirm(key, attempted, answer);
  }

  #confirm(key: number, attempted: Attempted, { stream = '', seq = 0, duplicate = false }: Acknowledgement): void {
    if (!duplicate && !this.#questions.acknowledged(attempted.stream, seq)) {
      this.#finish(key, attempted, unavailable(`${stream} acknowledged a place that was taken before`));
      return;
    }
    const outcome = duplicate && attempted.message.messageId !== undefined ? 'duplicate' : 'appended';
    const confirm = (generation: number) =>
      this.#finish(key, attempted, { outcome, position: { stream, generation, sequence: seq } });
    const generation = this.#questions.generationOf(stream);
    if (typeof generation === 'number') confirm(generation);
    else generation.then(confirm, () => this.#sendLater(attempted, `${stream} does not tell its generation`));
  }

  #refuse(key: number, attempted: Attempted, error: NonNullable<Acknowledgement['error']>): void {
    const reason = error.description ?? `error ${error.err_code ?? error.code}`;
    if (WRONG_LAST_SEQUENCE.includes(error.err_code ?? 0)) this.#conflict(key, attempted, reason);
    else if (error.code >= 500) this.#sendLater(attempted, reason);
    else
      this.#finish(
        key,
        attempted,
        new Error(`the server refused a message under ${attempted.message.subject}: ${reason}`),
      );
  }

  /**
   * Newer servers look at the expected sequence before the message id, so an append that stands already is told as a
   * conflict with itself. If it stands, then as the first of its subject after the sequence that it expected.
   */
  #conflict(key: number, attempted: Attempted, reason: string): void {
    const { subject, messageId, expectedLastSequence = 0 } = attempted.message;
    const sentBefore = attempted.attempts > 1 || messageId !== undefined;
    if (!sentBefore) {
      this.#finish(key, attempted, conflict(reason));
      return;
    }
    this.#questions.successorOf(attempted.stream, subject, expectedLastSequence).then(
      (successor) => {
        if (successor?.messageId !== attempted.headers.get(MESSAGE_ID_HEADER))
          this.#finish(key, attempted, conflict(reason));
        else this.#confirm(key, attempted, { stream: attempted.stream, seq: successor.sequence, duplicate: true });
      },
      () => this.#sendLater(attempted, 'a conflict that could not be looked into'),
    );
  }

  #sendLater(attempted: Attempted, trouble: string): void {
    attempted.lastTrouble = trouble;
    attempted.again = Date.now() + backoff(attempted.attempts);
  }

  #sweep(): void {
    const now = Date.now();
    for (const [key, attempted] of this.#underWay) {
      if (attempted.deadline <= now) this.#finish(key, attempted, unavailable(attempted.lastTrouble));
      else if (attempted.again <= now) this.#send(key, attempted);
    }
    const kept = this.#waiting.filter((attempted) => {
      if (attempted.deadline > now) return true;
      attempted.settle(unavailable('no room in the publish window'));
      return false;
    });
    if (kept.length < this.#waiting.length) this.#waiting.splice(0, this.#waiting.length, ...kept);
  }

  #finish(key: number, attempted: Attempted, outcome: AppendOutcome | Error): void {
    if (!this.#underWay.delete(key)) return;
    if (outcome instanceof Error) attempted.fail(outcome);
    else attempted.settle(outcome);
    const next = this.#waiting.shift();
    if (next !== undefined) this.#start(next);
    else if (this.#underWay.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}

/** A server of its own tells the number; one of a cluster may leave it out. */
function conflict(reason: string): AppendOutcome {
  const told = /^wrong last sequence: (\d+)$/.exec(reason)?.[1];
  return { outcome: 'conflict', reason, lastSequence: told === undefined ? null : Number(told) };
}

const unavailable = (reason: string): AppendOutcome => ({ outcome: 'unavailable', reason });
