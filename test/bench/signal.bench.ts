/**
 * How long it takes from a report to the signal at its public subject, against an empty round trip on the same server:
 * one publish that is acknowledged and one pull consumer that is handed the message. Both at 1,000 messages a second;
 * afterwards as fast as ingest takes them. 1,000 works, of which at any moment each is somewhere in a circle of three equal
 * failures, which raise a signal, and a pass, which withdraws it. Run it with Node:
 * `node test/bench/signal.bench.ts [seconds] [always|interval]`. Prints one line of JSON.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { Agent, request } from 'undici';
import { type Services, startServices } from '../harness/services.ts';

const WORKS = 1_000;
const RATE = 1_000;
/** One request each so often; what came due meanwhile goes in it. */
const EVERY_MS = 20;
const CIRCLE = 4;
/** How long the last signals may take. */
const PATIENCE_MS = 60_000;
/** Requests at once when ingest is given all it takes. */
const AT_ONCE = 8;
const BATCH = 500;

const seconds = Number(process.argv[2] ?? 20);
const sync = process.argv[3] === 'interval' ? 'interval' : 'always';
const agent = new Agent({ connections: 32, pipelining: 1 });

const percentile = (sorted: readonly number[], share: number): number | null => {
  const at = sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)];
  return at === undefined ? null : Number(at.toFixed(2));
};
const summary = (latencies: readonly number[]) => {
  const sorted = latencies.toSorted((a, b) => a - b);
  return { count: sorted.length, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
};

/** Calls `send` with how many are due, at the rate, until `total` were sent. */
async function atRate(total: number, send: (from: number, to: number) => Promise<void>): Promise<void> {
  const started = performance.now();
  const under: Promise<void>[] = [];
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - started) / 1_000) * RATE));
    if (due > sent) {
      under.push(send(sent, due));
      sent = due;
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  await Promise.all(under);
}

async function roundTrips(connection: NatsConnection, total: number): Promise<number[]> {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: 'EMPTY', subjects: ['empty.>'] });
  await manager.consumers.add('EMPTY', { durable_name: 'empty', ack_policy: 'none' });
  const client = jetstream(connection);
  const latencies: number[] = [];
  const consumer = await client.consumers.get('EMPTY', 'empty');
  const messages = await consumer.consume({ max_messages: 1_000 });
  const sentAt: number[] = [];
  const reading = (async () => {
    for await (const message of messages) {
      latencies.push(performance.now() - (sentAt[Number(message.subject.slice('empty.'.length))] ?? Number.NaN));
      if (latencies.length === total) break;
    }
  })();
  await atRate(total, async (from, to) => {
    const published: Promise<unknown>[] = [];
    for (let number = from; number < to; number += 1) {
      sentAt[number] = performance.now();
      published.push(client.publish(`empty.${number}`, Buffer.alloc(512, 'x')));
    }
    await Promise.all(published);
  });
  await reading;
  await manager.streams.delete('EMPTY');
  return latencies;
}

/** The event with this number: each work gets one in turn, works next to each other are at different places of the circle. */
function eventOf(number: number) {
  const index = number % WORKS;
  const round = Math.floor(number / WORKS);
  const work = `work-${index}`;
  const place = (round + index) % CIRCLE;
  const failing = place < CIRCLE - 1;
  return {
    work,
    // The first circle of a work may begin in its middle, and raises nothing then.
    raises: place === CIRCLE - 2 && round >= CIRCLE - 2,
    event: {
      specversion: '1.0',
      source: 'bench',
      id: `${work}/${round}`,
      subject: work,
      type: 'headway.gate.attempted',
      data: {
        gate: 'test',
        outcome: failing ? 'failed' : 'passed',
        // The tree stands still within a circle and moves on with the next.
        diff: { hash: `d${Math.floor((round + index) / CIRCLE)}` },
        ...(failing ? { exitCode: 1, failures: [{ key: `${work} fails` }] } : {}),
      },
    },
  };
}

interface Heard {
  /** When the report that raises the next signal of a work was sent. */
  readonly sentAt: Map<string, number>;
  readonly latencies: number[];
}

function hear(connection: NatsConnection, tenant: string): Heard {
  const heard: Heard = { sentAt: new Map(), latencies: [] };
  connection.subscribe(`trajectory.signal.${tenant}.stagnating.*`, {
    callback: (error, message) => {
      if (error !== null) throw error;
      const work = message.json<{ subject: string }>().subject;
      const sent = heard.sentAt.get(work);
      if (sent === undefined) return;
      heard.latencies.push(performance.now() - sent);
      heard.sentAt.delete(work);
    },
  });
  return heard;
}

async function post(services: Services, tenant: string, heard: Heard, from: number, to: number): Promise<void> {
  const lines: string[] = [];
  for (let number = from; number < to; number += 1) {
    const { work, raises, event } = eventOf(number);
    if (raises) heard.sentAt.set(work, performance.now());
    lines.push(JSON.stringify(event));
  }
  const answer = await request(`${services.url('ingest')}/v1/events`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${services.token}`,
      'headway-tenant': tenant,
      'content-type': 'application/x-ndjson',
    },
    body: lines.join('\n'),
    dispatcher: agent,
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 202) throw new Error(`${answer.statusCode} ${text}`);
}

async function until(done: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!done() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
}

const services = await startServices({ HEADWAY_LOG_LEVEL: 'warn' }, { sync });
const connection = await connect({ servers: services.natsUrl });
try {
  const total = seconds * RATE;
  const empty = summary(await roundTrips(connection, total));

  const steady = hear(connection, 'steady');
  await atRate(total, (from, to) => post(services, 'steady', steady, from, to));
  await until(() => steady.sentAt.size === 0);
  const atSteadyRate = summary(steady.latencies);

  const full = hear(connection, 'full');
  const started = performance.now();
  let next = 0;
  const sender = async () => {
    while (next < total) {
      const from = next;
      next = Math.min(total, next + BATCH);
      await post(services, 'full', full, from, next);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  const acceptedPerSecond = Math.round(total / ((performance.now() - started) / 1_000));
  await until(() => full.sentAt.size === 0);

  const ratio = (a: number | null, b: number | null) => (a === null || b === null ? null : Number((a / b).toFixed(2)));
  console.log(
    JSON.stringify({
      bench: 'signal',
      server: services.nats.version,
      sync,
      works: WORKS,
      eventsPerSecond: RATE,
      events: total,
      emptyRoundTripMs: empty,
      evidenceToSignalMs: atSteadyRate,
      unheard: steady.sentAt.size,
      ratioP50: ratio(atSteadyRate.p50, empty.p50),
      ratioP99: ratio(atSteadyRate.p99, empty.p99),
      saturated: { acceptedPerSecond, evidenceToSignalMs: summary(full.latencies), unheard: full.sentAt.size },
    }),
  );
} finally {
  await connection.close();
  await agent.close();
  await services.stop();
}
