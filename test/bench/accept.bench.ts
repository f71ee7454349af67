/**
 * Events over HTTP into ingest, a process of its own with identity checks on, against one raw publisher with one reply inbox
 * that puts the very same messages into the same server. `node test/bench/accept.bench.ts [events] [always|interval]`
 * prints one line of JSON for each way in which clients send.
 *
 * Ratios are of rates of messages: an event alone in its message counts as one, and so does a message of many events.
 */
import { Agent, request } from 'node:http';
import { STREAMS } from '@headway/contracts';
import { connectJetStreamLog, type EventLog } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { type PlannedEvent, planFleet } from '../harness/fleet-plan.ts';
import { type Services, startServices } from '../harness/services.ts';
import { declareRawStream, publishRaw, type RawMessage } from './raw-publisher.ts';

const WORKS = 1_000;
const ROUNDS = 3;
const RAW_ROOT = 'raw';
const events = Number(process.argv[2] ?? 30_000);
const sync = process.argv[3] === 'interval' ? 'interval' : 'always';

interface Shape {
  readonly name: string;
  /** Events in one request; 1 = one event as `application/cloudevents+json`. */
  readonly batch: number;
  /** Requests under way at once. */
  readonly clients: number;
  /** Whether a request holds the events of one work, in order, or one event each of many works. */
  readonly of: 'one work' | 'many works';
  /** This part of the events is enough for a figure. */
  readonly share: number;
}

const SHAPES: readonly Shape[] = [
  { name: 'batches of 500 over many works', batch: 500, clients: 8, of: 'many works', share: 1 },
  { name: 'batches of 50 over many works', batch: 50, clients: 16, of: 'many works', share: 1 },
  { name: 'batches of 30 of one work', batch: 30, clients: 16, of: 'one work', share: 1 },
  { name: 'single events', batch: 1, clients: 64, of: 'many works', share: 0.3 },
];

const seconds = (since: number) => (performance.now() - since) / 1_000;
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;

/** The bodies of a round, made before the clock runs; ids differ from round to round. */
function bodiesOf(shape: Shape, round: string): Buffer[] {
  const plan = planFleet({ works: WORKS, rounds: Math.ceil((events * shape.share) / WORKS), seed: 11 });
  const ordered = shape.of === 'one work' ? [...plan.ofWork.values()].flat() : plan.rounds.flat();
  const named = ordered.map((event): PlannedEvent => ({ ...event, id: `${round}/${event.id}` }));
  const bodies: Buffer[] = [];
  for (let at = 0; at < named.length; at += shape.batch) {
    const some = named.slice(at, at + shape.batch);
    bodies.push(
      Buffer.from(shape.batch === 1 ? JSON.stringify(some[0]) : some.map((one) => JSON.stringify(one)).join('\n')),
    );
  }
  return bodies;
}

function post(services: Services, agent: Agent, type: string, body: Buffer): Promise<{ accepted: number }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${services.url('ingest')}/v1/events`,
      {
        agent,
        method: 'POST',
        headers: { authorization: `Bearer ${services.token}`, 'content-type': type, 'content-length': body.length },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          if (answer.statusCode === 202) resolve(JSON.parse(text) as { accepted: number });
          else reject(new Error(`${answer.statusCode} ${text.slice(0, 1_000)}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Events accepted a second. Throws where one was not. */
async function accept(services: Services, shape: Shape, bodies: readonly Buffer[], expected: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: shape.clients });
  const type = shape.batch === 1 ? 'application/cloudevents+json' : 'application/x-ndjson';
  const started = performance.now();
  let next = 0;
  let accepted = 0;
  const client = async () => {
    while (next < bodies.length) {
      const answer = await post(services, agent, type, bodies[next++] as Buffer);
      accepted += answer.accepted;
    }
  };
  await Promise.all(Array.from({ length: shape.clients }, client));
  const took = seconds(started);
  agent.destroy();
  if (accepted !== expected) throw new Error(`${accepted} of ${expected} events were accepted`);
  return expected / took;
}

/** What ingest wrote, to be written once more to a stream of the same settings. */
async function messagesAfter(log: EventLog, after: number, round: string): Promise<RawMessage[]> {
  const { lastSequence } = await log.describe(STREAMS.evidence);
  const messages: RawMessage[] = [];
  const reading = { stream: STREAMS.evidence, filters: ['evidence.>'], after, batch: 1_000 };
  for await (const batch of log.read({ ...reading, signal: AbortSignal.timeout(120_000) })) {
    for (const { subject, payload } of batch.messages)
      messages.push({ subject: `${RAW_ROOT}.${subject}`, payload, id: `${round}-${messages.length}` });
    if (after + messages.length >= lastSequence) return messages;
  }
  throw new Error(`${messages.length} of ${lastSequence - after} messages were read in two minutes`);
}

/** Lets projection archive everything, and ends it: while something is measured nothing else runs. */
async function archiveAll(services: Services, upTo: number): Promise<void> {
  await services.start('projection');
  await eventually(
    async () => {
      const { checks } = (await (await fetch(`${services.url('ingest')}/readyz`)).json()) as ReadyAnswer;
      return (checks?.identities?.detail?.archived ?? 0) >= upTo;
    },
    { within: 120_000, what: 'the archive' },
  );
  await services.kill('projection');
}

/** What ingest says of its readiness, as far as it is of use here. */
interface ReadyAnswer {
  readonly checks?: { readonly identities?: { readonly detail?: { readonly archived?: number } } };
}

/** A server and a store of its own for each shape. */
async function measure(shape: Shape): Promise<void> {
  const services = await startServices({}, { own: true, sync, started: ['ingest'] });
  const log = await connectJetStreamLog({ servers: services.natsUrl, name: 'bench' });
  const expected = Math.ceil((events * shape.share) / WORKS) * WORKS;
  const rates = { events: [] as number[], messages: [] as number[], raw: [] as number[] };
  try {
    await declareRawStream(services.natsUrl, RAW_ROOT);
    for (let round = 0; round <= ROUNDS; round += 1) {
      const name = `round ${round}`;
      const bodies = bodiesOf(shape, name);
      const { lastSequence: before } = await log.describe(STREAMS.evidence);
      const rate = await accept(services, shape, bodies, expected);
      const messages = await messagesAfter(log, before, name);
      await archiveAll(services, before + messages.length);
      const raw = await publishRaw(services.natsUrl, messages);
      // The first round warms both up.
      if (round === 0) continue;
      rates.events.push(Math.round(rate));
      rates.messages.push(Math.round((rate * messages.length) / expected));
      rates.raw.push(Math.round(raw));
    }
  } finally {
    await log.close();
    await services.stop();
  }
  const ratios = rates.messages.map((rate, at) => rate / (rates.raw[at] as number));
  console.log(
    JSON.stringify({
      bench: 'accept',
      shape: shape.name,
      server: services.nats.version,
      sync: services.nats.sync,
      works: WORKS,
      eventsPerSecond: median(rates.events),
      messagesPerSecond: median(rates.messages),
      rawMessagesPerSecond: median(rates.raw),
      ratio: Number(median(ratios).toFixed(2)),
      aim: 0.6,
      rates,
    }),
  );
}

const only = process.argv[4];
for (const shape of SHAPES) if (only === undefined || shape.name === only) await measure(shape);
