/**
 * Appends through the log port against one raw publisher with one reply inbox on the same server, and ordered replay.
 * Run it with Node: `node test/bench/eventlog.bench.ts [messages] [always|interval]`. Prints one line of JSON.
 */
import { STREAMS, subjects } from '@headway/contracts';
import { connectJetStreamLog, type EventLog, provisionStreams } from '@headway/eventlog';
import { startNats } from '@headway/testkit';
import { connect, createInbox, headers } from '@nats-io/transport-node';

const WINDOW = 1_024;
const SUBJECTS = 1_000;
const ROUNDS = 3;
const messages = Number(process.argv[2] ?? 30_000);
const sync = process.argv[3] === 'interval' ? 'interval' : 'always';
const payload = Buffer.alloc(512, 'x');

const subjectOf = (kind: string, number: number) => subjects.evidence('bench', `${kind}-${number % SUBJECTS}`);
const perSecond = (count: number, started: number) => Math.round(count / ((performance.now() - started) / 1_000));
const best = (rates: readonly number[]) => Math.max(...rates);

async function publishRaw(url: string, round: number): Promise<number> {
  const connection = await connect({ servers: url });
  const inbox = createInbox();
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    let sent = 0;
    let acknowledged = 0;
    const fill = () => {
      for (; sent < messages && sent - acknowledged < WINDOW; sent += 1) {
        const all = headers();
        all.set('Nats-Msg-Id', `raw-${round}-${sent}`);
        connection.publish(subjectOf('raw', sent), payload, { reply: `${inbox}.${sent}`, headers: all });
      }
    };
    connection.subscribe(`${inbox}.*`, {
      callback: (error, reply) => {
        if (error !== null) return reject(error);
        const answer = reply.json<{ seq?: number }>();
        if (answer.seq === undefined) return reject(new Error(reply.string()));
        acknowledged += 1;
        if (acknowledged === messages) resolve();
        else fill();
        return undefined;
      },
    });
    fill();
  });
  const rate = perSecond(messages, started);
  await connection.close();
  return rate;
}

async function appendThroughPort(log: EventLog, round: number): Promise<number> {
  const started = performance.now();
  let next = 0;
  const writer = async () => {
    while (next < messages) {
      const number = next++;
      const messageId = `port-${round}-${number}`;
      const done = await log.append({ subject: subjectOf('port', number), payload, messageId });
      if (done.outcome !== 'appended') throw new Error(JSON.stringify(done));
    }
  };
  await Promise.all(Array.from({ length: WINDOW * 2 }, writer));
  return perSecond(messages, started);
}

async function replay(log: EventLog): Promise<number> {
  const { lastSequence } = await log.describe(STREAMS.evidence);
  const options = { stream: STREAMS.evidence, filters: [subjects.allEvidence], after: 0, batch: 1_000 };
  const started = performance.now();
  let read = 0;
  for await (const batch of log.read({ ...options, signal: AbortSignal.timeout(120_000) })) {
    read += batch.messages.length;
    if (read >= lastSequence) return perSecond(read, started);
  }
  throw new Error(`the replay gave ${read} of ${lastSequence} messages in two minutes`);
}

const nats = await startNats({ own: true, sync });
try {
  const access = { servers: nats.url, name: 'bench' };
  await provisionStreams(access);
  const log = await connectJetStreamLog({ ...access, publishWindow: WINDOW });
  const rates = { raw: [] as number[], port: [] as number[], replay: [] as number[] };
  for (let round = 1; round <= ROUNDS; round += 1) {
    rates.raw.push(await publishRaw(nats.url, round));
    rates.port.push(await appendThroughPort(log, round));
  }
  for (let round = 1; round <= ROUNDS; round += 1) rates.replay.push(await replay(log));
  await log.close();
  console.log(
    JSON.stringify({
      bench: 'eventlog',
      server: nats.version,
      sync: nats.sync,
      bytes: payload.length,
      messages,
      appendsPerSecond: best(rates.port),
      rawPerSecond: best(rates.raw),
      ratio: Number((best(rates.port) / best(rates.raw)).toFixed(2)),
      replayPerSecond: best(rates.replay),
      rates,
    }),
  );
} finally {
  await nats.stop();
}
