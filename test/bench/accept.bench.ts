/**
 * Events accepted over HTTP, in batches and one by one, until they are acknowledged in the log, against one process that
 * publishes the same messages raw on the same server. 1,000 works; every identity is checked in the index and in the
 * archive. Ingest is a process of its own, and so is the publisher. Run it with Node:
 * `node test/bench/accept.bench.ts [events] [always|interval]`. Prints one line of JSON for each way of sending.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STREAMS, subjects } from '@headway/contracts';
import { connectJetStreamLog } from '@headway/eventlog';
import { Agent, request } from 'undici';
import { planFleet } from '../harness/fleet-plan.ts';
import { repositoryRoot, type Services, startServices } from '../harness/services.ts';

const WORKS = 1_000;
const ROUNDS = 3;
/** How events are sent: so many in a request, so many requests at once. */
const WAYS = [
  { name: 'batches', batch: 500, atOnce: 8 },
  { name: 'single events', batch: 1, atOnce: 64 },
] as const;
const events = Number(process.argv[2] ?? 30_000);

const sync = process.argv[3] === 'interval' ? 'interval' : 'always';
const folder = mkdtempSync(join(tmpdir(), 'headway-bench-'));
const agent = new Agent({ connections: 64, pipelining: 1 });

/** Requests as texts, made before the clock runs. */
function requestsOf(tenant: string, batch: number): string[] {
  const plan = planFleet({ works: WORKS, rounds: Math.ceil(events / WORKS), seed: 5 });
  const all = plan.rounds.flat().slice(0, events);
  const requests: string[] = [];
  for (let at = 0; at < all.length; at += batch)
    requests.push(
      all
        .slice(at, at + batch)
        .map((event) => JSON.stringify({ ...event, id: `${tenant} ${event.id}` }))
        .join('\n'),
    );
  return requests;
}

async function acceptAll(
  services: Services,
  tenant: string,
  requests: readonly string[],
  atOnce: number,
): Promise<number> {
  let next = 0;
  let accepted = 0;
  const send = async () => {
    for (let body = requests[next++]; body !== undefined; body = requests[next++]) {
      const answer = await request(`${services.url('ingest')}/v1/events`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${services.token}`,
          'headway-tenant': tenant,
          'content-type': 'application/x-ndjson',
        },
        body,
        dispatcher: agent,
      });
      if (answer.statusCode !== 202) throw new Error(`${answer.statusCode} ${await answer.body.text()}`);
      accepted += ((await answer.body.json()) as { accepted: number }).accepted;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: atOnce }, send));
  if (accepted !== events) throw new Error(`${accepted} of ${events} events were accepted`);
  return Math.round(events / ((performance.now() - started) / 1_000));
}

/** The messages that a tenant's events became, a line each. */
async function messagesOf({ natsUrl }: Services, tenant: string): Promise<string[]> {
  const log = await connectJetStreamLog({ servers: natsUrl, name: 'bench' });
  const { lastSequence } = await log.describe(STREAMS.evidence);
  const lines: string[] = [];
  const ending = new AbortController();
  const reading = { stream: STREAMS.evidence, filters: [subjects.allEvidence], after: 0, batch: 1_000 };
  for await (const { messages } of log.read({ ...reading, signal: ending.signal })) {
    for (const { subject, payload } of messages)
      if (subject.includes(`.${tenant}.`)) lines.push(Buffer.from(payload).toString('utf8'));
    if ((messages.at(-1)?.sequence ?? 0) >= lastSequence) break;
  }
  await log.close();
  return lines;
}

function raw({ natsUrl }: Services, file: string): number {
  const program = join(repositoryRoot, 'test/bench/publish-raw.ts');
  const ran = spawnSync(process.execPath, [program, natsUrl, file, String(WORKS)], { encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return Number(ran.stdout);
}

const best = (rates: readonly number[]) => Math.max(...rates);
try {
  for (const { name, batch, atOnce } of WAYS) {
    const rates = { accepted: [] as number[], raw: [] as number[] };
    let messages = 0;
    let server = '';
    for (let round = 1; round <= ROUNDS; round += 1) {
      // New ones for each round: nothing is archived here, and ingest takes nothing once the archive is a minute behind.
      const services = await startServices({ HEADWAY_LOG_LEVEL: 'warn' }, { sync, only: ['ingest'] });
      try {
        const tenant = `round-${round}`;
        server = services.nats.version;
        rates.accepted.push(await acceptAll(services, tenant, requestsOf(tenant, batch), atOnce));
        const lines = await messagesOf(services, tenant);
        messages = lines.length;
        const file = join(folder, `${name} ${round}`);
        writeFileSync(file, lines.join('\n'));
        rates.raw.push(raw(services, file));
      } finally {
        await services.stop();
      }
    }
    // As messages: an event of the same work and request shares one.
    const acceptedMessages = Math.round((best(rates.accepted) * messages) / events);
    console.log(
      JSON.stringify({
        bench: 'accept',
        sent: name,
        batch,
        atOnce,
        works: WORKS,
        events,
        messages,
        server,
        sync,
        acceptedEventsPerSecond: best(rates.accepted),
        acceptedMessagesPerSecond: acceptedMessages,
        rawMessagesPerSecond: best(rates.raw),
        ratio: Number((acceptedMessages / best(rates.raw)).toFixed(2)),
        rates,
      }),
    );
  }
} finally {
  await agent.close();
  rmSync(folder, { recursive: true, force: true });
}
