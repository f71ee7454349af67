import type { StreamName } from '@headway/contracts';
import { AckPolicy, type ConsumerConfig, DeliverPolicy, type JetStreamManager } from '@nats-io/jetstream';
import { type Msg, type NatsConnection, nanos, type Subscription } from '@nats-io/transport-node';
import { newInbox } from './connection.ts';
import { type Delivery, readDelivery } from './delivery.ts';

/** Messages asked for and not yet taken out by the reader: the bound of a reader's buffer. */
export const MAX_BUFFERED = 4_096;
/** Bytes that the server may send for one pull. At most three pulls are open at once. */
const PULL_BYTES = 16 * 1024 * 1024;
/** How long the server keeps a pull open unless told otherwise. */
export const PULL_EXPIRES_MS = 30_000;
const HEARTBEAT_MS = 2_000;
/** Nothing heard for this long while a pull is open: the consumer or the connection is gone. */
const SILENCE_MS = 3 * HEARTBEAT_MS;
/** After this long without a pull the server removes the consumer by itself. */
const INACTIVE_MS = 5 * 60_000;

export interface ConsumerEvents {
  readonly message: (message: Msg, delivery: Delivery) => void;
  /** A pull is over: the reader has to call `keepUp` now, since nothing is under way that would wake it. */
  readonly over: () => void;
  /** The consumer is of no more use. Told once. */
  readonly broken: (reason: string) => void;
}

export interface ConsumerStart {
  readonly stream: StreamName;
  readonly filter: string;
  /** The sequence to start at, or the newest message of each subject. */
  readonly from: number | 'newest-of-each';
  readonly pullExpiresMs: number;
}

/**
 * A short-lived consumer of one filter, read by pulls, without acknowledgements. Its deliveries are numbered without
 * gaps; at the first irregularity it breaks, and the reader makes another one where it stands.
 */
export class PullConsumer {
  readonly name: string;
  /** Messages that waited when it was made. */
  readonly waiting: number;
  readonly #connection: NatsConnection;
  readonly #stream: StreamName;
  readonly #pullExpiresMs: number;
  readonly #events: ConsumerEvents;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  #delivered = 0;
  #asked = 0;
  #heard = Date.now();
  #ended = false;

  private constructor(
    connection: NatsConnection,
    made: { readonly name: string; readonly waiting: number },
    { stream, pullExpiresMs }: ConsumerStart,
    events: ConsumerEvents,
  ) {
    this.name = made.name;
    this.waiting = made.waiting;
    this.#connection = connection;
    this.#inbox = newInbox(connection);
    this.#stream = stream;
    this.#pullExpiresMs = pullExpiresMs;
    this.#events = events;
    this.#subscription = connection.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error !== null) this.#break(error.message);
        else this.#take(message);
      },
    });
  }

  static async create(
    connection: NatsConnection,
    manager: JetStreamManager,
    start: ConsumerStart,
    events: ConsumerEvents,
  ): Promise<PullConsumer> {
    const place: Partial<ConsumerConfig> =
      start.from === 'newest-of-each'
        ? { deliver_policy: DeliverPolicy.LastPerSubject }
        : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: start.from };
    const made = await manager.consumers.add(start.stream, {
      ...place,
      filter_subject: start.filter,
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(INACTIVE_MS),
      mem_storage: true,
      num_replicas: 1,
    });
    return new PullConsumer(connection, { name: made.name, waiting: made.num_pending }, start, events);
  }

  /** Asks for more when less than half of the bound is buffered or asked for; and breaks when nothing is heard. */
  keepUp(buffered: number): void {
    if (this.#ended) return;
    if (this.#asked > 0 && Date.now() - this.#heard > SILENCE_MS) {
      this.#break('no heartbeat');
      return;
    }
    const room = MAX_BUFFERED - buffered - this.#asked;
    if (room < MAX_BUFFERED / 2) return;
    if (this.#asked === 0) this.#heard = Date.now();
    this.#asked += room;
    const pull = {
      batch: room,
      max_bytes: PULL_BYTES,
      expires: nanos(this.#pullExpiresMs),
      idle_heartbeat: nanos(Math.min(HEARTBEAT_MS, Math.floor(this.#pullExpiresMs / 3))),
    };
    this.#publish(`$JS.API.CONSUMER.MSG.NEXT.${this.#stream}.${this.name}`, JSON.stringify(pull), this.#inbox);
  }

  /** How long the reader may wait before it has to call {@link keepUp} again. */
  static readonly patience = SILENCE_MS;

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#connection.isClosed()) return;
    this.#subscription.unsubscribe();
    this.#publish(`$JS.API.CONSUMER.DELETE.${this.#stream}.${this.name}`, '');
  }

  #publish(subject: string, payload: string, reply?: string): void {
    try {
      this.#connection.publish(subject, payload, reply === undefined ? {} : { reply });
    } catch (error) {
      this.#break(error instanceof Error ? error.message : String(error));
    }
  }

  #take(message: Msg): void {
    if (this.#ended) return;
    this.#heard = Date.now();
    const delivery = message.reply ? readDelivery(message.reply) : null;
    if (delivery === null) {
      this.#status(message);
    } else if (delivery.delivered !== this.#delivered + 1) {
      this.#break(`delivery ${delivery.delivered} after ${this.#delivered}`);
    } else {
      this.#delivered += 1;
      this.#asked = Math.max(0, this.#asked - 1);
      this.#events.message(message, delivery);
    }
  }

  #status(message: Msg): void {
    const { code = 0, description = '' } = message.headers ?? {};
    if (code === 100) return;
    // 404, 408, and 409 for a full pull: that pull is over, and tells how much of it was not served.
    const over = code === 404 || code === 408 || (code === 409 && /max_?bytes|batch completed/i.test(description));
    if (!over) {
      this.#break(`${code} ${description}`);
      return;
    }
    const unserved = Number(message.headers?.get('Nats-Pending-Messages') || this.#asked);
    this.#asked = Math.max(0, this.#asked - unserved);
    this.#events.over();
  }

  #break(reason: string): void {
    if (this.#ended) return;
    this.end();
    this.#events.broken(reason);
  }
}
