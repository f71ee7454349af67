import type { TestPostgres } from '@headway/testkit';
import { apiOver } from './api.ts';
import { type Rig, startRig } from './rig.ts';
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
  holds: 'select to_jsonb(holds) as row from headway.holds',
  timeline: `select to_jsonb(timeline) - 'entry' || jsonb_build_object('place', row_number() over
    (partition by tenant, work, stream order by entry)) as row from headway.timeline`,
} as const;

/**
 * Two projections of one log into two databases; one of them is rebuilt while events come in, the other never. Answers with
 * where they differ in the end.
 */
export async function compareRebuild(
  server: TestPostgres,
  size: { readonly works: number; readonly events: number; readonly duringRebuild: number },
): Promise<Compared> {
  const rebuilt = await startRig(server);
  const living = await startRig(server, { log: rebuilt.log });
  const api = apiOver(rebuilt);
  living.project();
  try {
    const traffic = createTraffic(size.works);
    let events = 0;
    const begun = performance.now();
    while (events < size.events) events += await traffic.say(rebuilt);
    await settled(rebuilt, living);
    const asked = performance.now();
    await api.act('/v1/projections/fleet/rebuild', { why: 'to compare' });
    const state = async () => (await rebuilt.model.rebuilds.newest('fleet'))?.state;
    let rounds = 0;
    while ((await state()) !== 'switched' || rounds < size.duringRebuild) {
      if ((await state()) === 'failed') throw new Error('the rebuild failed');
      events += await traffic.say(rebuilt);
      rounds += 1;
      // No faster than the projections take it in: a log in memory gives more than any of them could.
      await settled(rebuilt);
    }
    const newest = await rebuilt.model.rebuilds.newest('fleet');
    await settled(rebuilt, living);
    return {
      events,
      messages: newest?.total ?? 0,
      rows: await counted(rebuilt),
      difference: await differences(rebuilt, living),
      seconds: {
        live: (asked - begun) / 1_000,
        rebuild: ((newest?.endedAt ?? 0) - (newest?.startedAt ?? 0)) / 1_000,
      },
    };
  } finally {
    await api.app.close();
    await living.stop();
    await rebuilt.stop();
  }
}

/** Milliseconds within which a projection has to come to the end of what was said. */
const SETTLED = 3_000_000;

const settled = async (...rigs: readonly Rig[]) => {
  for (const rig of rigs) await rig.settled(SETTLED);
};

const counted = async ({ sql }: Rig) => {
  const counts: Record<string, number> = {};
  for (const [table, query] of Object.entries(COMPARED)) {
    const [row] = await sql<{ n: number }>(`select count(*)::int as n from (${query}) as rows`);
    counts[table] = row?.n ?? 0;
  }
  return counts;
};

/** Digests of the rows are compared, so that a million of them fit. */
async function differences(one: Rig, other: Rig): Promise<Record<string, number>> {
  const different: Record<string, number> = {};
  for (const [table, query] of Object.entries(COMPARED)) {
    const digests = async ({ sql }: Rig) =>
      (await sql<{ digest: string }>(`select md5(row::text) as digest from (${query}) as rows order by 1`)).map(
        ({ digest }) => digest,
      );
    const [left, right] = [await digests(one), await digests(other)];
    const [inLeft, inRight] = [new Set(left), new Set(right)];
    const alone = left.filter((digest) => !inRight.has(digest)).length + right.filter((d) => !inLeft.has(d)).length;
    if (alone > 0 || left.length !== right.length) different[table] = Math.max(alone, 1);
  }
  return different;
}
