import { createMemoryLog, createMemoryStreams, type EventLog } from '@headway/eventlog';
import type { TestPostgres } from '@headway/testkit';
import { apiOver } from './api.ts';
import { copyDatabase, type Rig, startRig } from './rig.ts';
import { createTraffic } from './traffic.ts';

export interface Compared {
  readonly events: number;
  readonly messages: number;
  /** Rows of the rebuilt generation, by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Rows that stand in one of the two generations only, by table; tables without any are left out. */
  readonly difference: Readonly<Record<string, number>>;
  readonly seconds: { readonly live: number; readonly rebuild: number };
}

/**
 * The columns that are compared. `change` counts transactions, of which the two projections make different ones. `entry`
 * is the order of arrival of two streams: within one work and stream it is the order of the log, which is compared.
 */
const COMPARED = {
  works: `select to_jsonb(works) - 'change' as row from headway.works`,
  signals: `select to_jsonb(signals) - 'change' as row from headway.signals`,
  signal_members: 'select to_jsonb(signal_members) as row from headway.signal_members',
  signal_coverage: 'select to_jsonb(signal_coverage) as row from headway.signal_coverage',
  signal_recipients: 'select to_jsonb(signal_recipients) as row from headway.signal_recipients',
  usage_spans: `select to_jsonb(usage_spans) || jsonb_build_object('time', row_number() over
    (partition by tenant, work, started_at, ended_at, cost_usd)) as row from headway.usage_spans`,
  policies: 'select to_jsonb(policies) as row from headway.policies',
  holds: 'select to_jsonb(holds) as row from headway.holds',
  waiting: 'select to_jsonb(waiting) as row from headway.waiting',
  timeline: `select to_jsonb(timeline) - 'entry' || jsonb_build_object('place', row_number() over
    (partition by tenant, work, stream order by entry)) as row from headway.timeline`,
} as const;

/**
 * One log, projected into a database; a copy of it then goes on beside it. One of the two is rebuilt while events come in,
 * the other never. Answers with where they differ in the end.
 */
export async function compareRebuild(
  server: TestPostgres,
  size: { readonly works: number; readonly events: number; readonly duringRebuild: number },
  onProgress: (line: string) => void = () => undefined,
): Promise<Compared> {
  const streams = createMemoryStreams();
  const log = forgetful(createMemoryLog({ streams }));
  const traffic = createTraffic(size.works);
  const begun = performance.now();
  const say = (line: string) => onProgress(`${((performance.now() - begun) / 1_000).toFixed(0)} s: ${line}`);
  const first = await startRig(server, { log });
  first.project();
  let events = 0;
  while (events < size.events) {
    events += await traffic.say(first);
    // No faster than the projection takes it in: a log in memory gives more than any could.
    if (traffic.rounds % ROUNDS_AHEAD === 0) {
      await first.settled(SETTLED);
      say(`${events} events are projected`);
    }
  }
  await first.settled(SETTLED);
  await first.leave();
  const copy = await copyDatabase(server, first.url);
  say(`${events} events stand in two databases`);
  const rebuilt = await startRig(server, { log, url: first.url });
  const living = await startRig(server, { log, url: copy });
  const api = apiOver(rebuilt);
  living.project();
  try {
    const asked = performance.now();
    const live = (asked - begun) / 1_000;
    await api.act('/v1/projections/fleet/rebuild', { why: 'to compare' });
    events += await sayWhileRebuilding(rebuilt, traffic, size.duringRebuild, say);
    const newest = await rebuilt.model.rebuilds.newest('fleet');
    await settled(rebuilt, living);
    say('comparing');
    const difference = await differences(rebuilt, living);
    say('compared');
    return {
      events,
      messages: newest?.total ?? 0,
      rows: await counted(rebuilt),
      difference,
      seconds: { live, rebuild: ((newest?.endedAt ?? 0) - (newest?.startedAt ?? 0)) / 1_000 },
    };
  } finally {
    await api.app.close();
    await living.stop();
    await rebuilt.stop();
    await log.close();
  }
}

/** Rounds of traffic while a rebuild is under way, at least so many; answers with how many events they were. */
async function sayWhileRebuilding(
  rig: Rig,
  traffic: ReturnType<typeof createTraffic>,
  atLeast: number,
  say: (line: string) => void,
): Promise<number> {
  let events = 0;
  for (let rounds = 0; ; rounds += 1) {
    const newest = await rig.model.rebuilds.newest('fleet');
    if (newest?.state === 'failed') throw new Error(`the rebuild failed: ${newest.error}`);
    if (newest?.state === 'switched' && rounds >= atLeast) return events;
    say(`rebuild ${newest?.state ?? 'asked for'}, ${newest?.done ?? 0} of ${newest?.total ?? 0} messages`);
    events += await traffic.say(rig);
    await settled(rig);
  }
}

/** Rounds that are said before the projection has to come to their end. */
const ROUNDS_AHEAD = 10;

/** Milliseconds within which a projection has to come to the end of what was said. */
const SETTLED = 600_000;

const settled = async (...rigs: readonly Rig[]) => {
  for (const rig of rigs) await rig.settled(SETTLED);
};

/** A log in memory keeps its messages; what is made of them is to be forgotten as that of a real one would be. */
const forgetful = (log: EventLog): EventLog => ({
  ...log,
  async *read(options) {
    for await (const batch of log.read(options))
      yield { ...batch, messages: batch.messages.map((message) => ({ ...message })) };
  },
});

const counted = async ({ unhurried }: Rig) => {
  const counts: Record<string, number> = {};
  for (const table of Object.keys(COMPARED)) {
    const [row] = await unhurried<{ n: number }>(`select count(*)::int as n from headway.${table}`);
    counts[table] = row?.n ?? 0;
  }
  return counts;
};

/** Counts and sums of digests are compared, so that a million rows are a few numbers; where they differ, the digests are. */
async function differences(one: Rig, other: Rig): Promise<Record<string, number>> {
  const different: Record<string, number> = {};
  for (const [table, query] of Object.entries(COMPARED)) {
    const sums = ({ unhurried }: Rig) =>
      unhurried(`
        select count(*)::text as rows, sum(('x' || left(digest, 16))::bit(64)::bigint::numeric)::text as first,
          sum(('x' || right(digest, 16))::bit(64)::bigint::numeric)::text as second
        from (select md5(row::text) as digest from (${query}) as rows) as digests`);
    const [left, right] = await Promise.all([sums(one), sums(other)]);
    if (JSON.stringify(left) !== JSON.stringify(right)) different[table] = await countDifferent(query, one, other);
  }
  return different;
}

async function countDifferent(query: string, one: Rig, other: Rig): Promise<number> {
  const digests = async ({ unhurried }: Rig) =>
    (await unhurried<{ digest: string }>(`select md5(row::text) as digest from (${query}) as rows`)).map(
      ({ digest }) => digest,
    );
  const [left, right] = [await digests(one), await digests(other)];
  const [inLeft, inRight] = [new Set(left), new Set(right)];
  const alone = left.filter((digest) => !inRight.has(digest)).length + right.filter((d) => !inLeft.has(d)).length;
  return Math.max(alone, 1);
}
