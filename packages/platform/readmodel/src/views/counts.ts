import type { SignalKind, TrajectoryClass } from '@headway/contracts';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../tables.ts';

/** Works by class and open signals by kind, over all tenants: for metrics. */
export interface Counts {
  readonly works: ReadonlyMap<TrajectoryClass, number>;
  readonly openSignals: ReadonlyMap<SignalKind, number>;
}

export async function countAll(db: Kysely<Database>): Promise<Counts> {
  const { rows: works } = await sql<{ class: TrajectoryClass; count: number }>`
    select class, count(*)::integer as count from headway.works group by class`.execute(db);
  const { rows: signals } = await sql<{ kind: SignalKind; count: number }>`
    select kind, count(*)::integer as count from headway.signals where state = 'open' group by kind`.execute(db);
  return {
    works: new Map(works.map((row) => [row.class, row.count])),
    openSignals: new Map(signals.map((row) => [row.kind, row.count])),
  };
}
