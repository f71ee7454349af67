/**
 * From an event over HTTP to the signal at its public subject, while a fleet of 1,000 works reports at a steady rate; against an
 * empty message through a stream of the same server (published, stored, consumed), and through the server alone, at the
 * same rate. `node test/bench/signal.bench.ts [seconds] [events a second] [always|interval]` prints one line of JSON.
 */
import { STREAMS, subjects } from '@headway/contracts';
import { connectJetStreamLog } from '@headway/eventlog';
import { connect } from '@nats-io/transport-node';
import { apiOf } from '../harness/api.ts';
import { planFleet } from '../harness/fleet-plan.ts';
import { type Services, startServices } from '../harness/services.ts';

const WORKS = 1_000;
/** Events of a fleet's batch: it decides how often one is sent. */
const BATCH = 20;
/** Signals asked for in a second, beside what the fleet gives rise to. */
const PROBES = 20;
/** So long after the last event signals may come. */
const PATIENCE_MILLISECONDS = 20_000;
const runSeconds = Number(process.argv[2] ?? 30);
const rate = Number(process.argv[3] ?? 1_000);
const sync = process.argv[4] === 'interval' ? 'interval' : 'always';

const sleepUntil = (time: number) =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, time - performance.now())));
const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const found = sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)];
  if (found === undefined) throw new Error('nothing was measured');
  return Number(found.toFixed(2));
};
const summary = (values: readonly number[]) => ({
  count: values.length,
  p50: percentile(values, 0.5),
  p99: percentile(values, 0.99),
});

/** Calls a step again and again at a steady pace, without waiting for the one before; settles when all have. */
async function steadily(times: number, everyMs: number, step: (time: number) => Promise<unknown>) {
  const began = performance.now();
  const steps: Promise<unknown>[] = [];
  for (let time = 0; time < times; time += 1) {
    await sleepUntil(began + time * everyMs);
    steps.push(step(time));
  }
  await Promise.all(steps);
  return performance.now() - began;
}

/** The third attempt that fails alike on one state of the code is a signal. */
const attempt = (work: string, number: number) => ({
  specversion: '1.0',
  source: 'probe',
  id: `${work}/${number}`,
  subject: work,
  type: 'headway.gate.attempted',
  data: {
    gate: 'test',
    outcome: 'failed',
    stage: 'prep',
    exitCode: 1,
    failures: [{ key: `${work} fails` }],
    diff: { hash: 'same' },
  },
});

async function measureSignals(services: Services) {
  const api = apiOf(services);
  const connection = await connect({ servers: services.natsUrl });
  const sent = new Map<string, number>();
  const heard = new Map<string, number>();
  connection.subscribe('trajectory.signal.default.*.*', {
    callback: (_error, { subject }) => {
      const work = subject.slice(subject.lastIndexOf('.') + 1);
      if (!heard.has(work)) heard.set(work, performance.now());
    },
  });
  await connection.flush();
  const probes = Array.from({ length: runSeconds * PROBES }, (_, number) => `probe-${number}`);
  for (let at = 0; at < probes.length; at += 100)
    await api.post(probes.slice(at, at + 100).flatMap((work) => [attempt(work, 1), attempt(work, 2)]));
  const fleet = planFleet({ works: WORKS, rounds: Math.ceil((runSeconds * rate) / WORKS), seed: 5 }).rounds.flat();
  const batches = Math.floor((runSeconds * rate) / BATCH);
  const [took] = await Promise.all([
    steadily(batches, (BATCH * 1_000) / rate, (at) => api.post(fleet.slice(at * BATCH, (at + 1) * BATCH))),
    steadily(probes.length, 1_000 / PROBES, (at) => {
      const work = probes[at] as string;
      sent.set(work, performance.now());
      return api.post([attempt(work, 3)]);
    }),
  ]);
  const deadline = performance.now() + PATIENCE_MILLISECONDS;
  while (probes.some((work) => !heard.has(work)) && performance.now() < deadline)
    await sleepUntil(performance.now() + 50);
  await connection.close();
  const missing = probes.filter((work) => !heard.has(work));
  if (missing.length > 0) throw new Error(`${missing.length} of ${probes.length} signals never came`);
  const times = probes.map((work) => (heard.get(work) as number) - (sent.get(work) as number));
  return { ...summary(times), eventsPerSecond: Math.round((batches * BATCH + probes.length) / (took / 1_000)) };
}

/** Published, stored and consumed, with nothing in between. */
async function measureStream(services: Services) {
  const log = await connectJetStreamLog({ servers: services.natsUrl, name: 'bench' });
  const { lastSequence: after } = await log.describe(STREAMS.feed);
  const ending = new AbortController();
  const [sent, times] = [new Map<string, number>(), [] as number[]];
  const reading = (async () => {
    const filters = ['trajectory.assessment.bench.>'];
    for await (const { messages } of log.read({
      stream: STREAMS.feed,
      filters,
      after,
      batch: 256,
      signal: ending.signal,
    }))
      for (const { subject } of messages) times.push(performance.now() - (sent.get(subject) ?? Number.NaN));
  })();
  await steadily(runSeconds * rate, 1_000 / rate, (number) => {
    const subject = subjects.feed.assessment('bench', `empty-${number}`);
    sent.set(subject, performance.now());
    return log.append({ subject, payload: new Uint8Array() });
  });
  while (times.length < sent.size) await sleepUntil(performance.now() + 50);
  ending.abort();
  await reading;
  await log.close();
  return summary(times);
}

async function measureServer(services: Services) {
  const connection = await connect({ servers: services.natsUrl });
  const [sent, times] = [[] as number[], [] as number[]];
  connection.subscribe('bench.empty.*', {
    callback: (_error, { subject }) => {
      times.push(performance.now() - (sent[Number(subject.slice('bench.empty.'.length))] as number));
    },
  });
  await connection.flush();
  await steadily(runSeconds * rate, 1_000 / rate, (number) => {
    sent[number] = performance.now();
    connection.publish(`bench.empty.${number}`);
    return Promise.resolve();
  });
  await connection.flush();
  await connection.close();
  return summary(times);
}

const services = await startServices({}, { own: true, sync });
try {
  const signal = await measureSignals(services);
  const stream = await measureStream(services);
  const server = await measureServer(services);
  console.log(
    JSON.stringify({
      bench: 'signal',
      server: services.nats.version,
      sync: services.nats.sync,
      works: WORKS,
      milliseconds: { signal, throughStream: stream, throughServer: server },
      ratioP50: Number((signal.p50 / stream.p50).toFixed(1)),
      ratioP99: Number((signal.p99 / stream.p99).toFixed(1)),
      aimP99: 5,
    }),
  );
} finally {
  await services.stop();
}
