import type { RebuildView } from '@headway/contracts';
import { type Kysely, sql } from 'kysely';
import { type HeldLock, tryLock } from '../advisory-lock.ts';
import { readArchivePage } from '../archive.ts';
import type { ArchivedMessage } from '../rows.ts';
import type { Database } from '../tables.ts';
import { type Changes, changesOver, lockChanges, nextChange } from '../write/advance.ts';
import { fromArchive } from '../write/from-archive.ts';
import { listHolds } from '../write/holds.ts';
import {
  findIdentities,
  identitiesAt,
  type PlaceRange,
  type StandingIdentity,
  summarizeIdentities,
} from '../write/identities.ts';
import type { Place } from '../write/positions.ts';
import { completeNext, createNext, dropSchema, takePlace } from './next-generation.ts';
import { FLEET, intoNextGeneration, NEXT_SCHEMA, OLD_SCHEMA } from './tables.ts';

/** How long the switch waits for readers that are in the midst of a statement; then it is tried again. */
const LOCK_TIMEOUT = '5s';
/** All writers wait for the switch; one that takes longer is undone and tried again. */
const SWITCH_TIMEOUT = '10min';

/** Identities that stand, by key. */
export type KnownIdentities = Pick<ReadonlyMap<string, StandingIdentity>, 'get'>;

export interface RebuildRow extends Omit<RebuildView, 'rate' | 'etaSeconds' | 'requestedAt' | 'endedAt'> {
  readonly id: number;
  readonly projection: string;
  /** Milliseconds since the Unix epoch. */
  readonly requestedAt: number;
  readonly startedAt: number | null;
  readonly updatedAt: number | null;
  readonly endedAt: number | null;
}

/** Rebuilds: a generation of the read models beside the living one, which it replaces when it has caught up. */
export interface Rebuilds {
  /** The generation that answers now; `null` where there is no such projection. */
  generation(projection: string): Promise<number | null>;
  /** The newest rebuild, whatever became of it. */
  newest(projection: string): Promise<RebuildRow | null>;
  /**
   * Takes on the rebuild that is under way, from its beginning, where nobody works on it: `null` where there is none or
   * another does. `worker` names who takes it on; a name is used once. Until `release` nobody else can.
   */
  takeOn(worker: string): Promise<Rebuild | null>;
}

/** One rebuild in the hands of one worker. Every step ends with `false` where it was called off or taken over. */
export interface Rebuild {
  readonly id: number;
  readonly total: number;
  /** Archived messages of a stream after a place; none at its end. */
  page(stream: string, after: Place, limit: number): Promise<ArchivedMessage[]>;
  /** The identities that stand among `keys`: to be asked for ahead of a write. */
  findIdentities(keys: readonly string[]): Promise<KnownIdentities>;
  /** The identities that stand at the messages of a range: cheaper than to ask for each of them. */
  identitiesAt(range: PlaceRange): Promise<KnownIdentities>;
  /**
   * Writes into the next generation and notes the messages that are done with, all or nothing. The identities in `known`
   * are not asked for again: one that stands stands for ever.
   */
  write(done: number, known: KnownIdentities, write: (changes: Changes) => Promise<void>): Promise<boolean>;
  /** Makes the indexes. Call it before `switch`. */
  complete(): Promise<boolean>;
  /**
   * Stops the writers of the living generation, lets `finish` bring the next one to its end, and puts it in its place, in
   * one transaction. `held` are the aggregates that the next generation could not handle.
   */
  switch(finish: (changes: Changes, held: readonly string[]) => Promise<number>): Promise<boolean>;
  /** Ends a rebuild that cannot succeed. */
  fail(error: string): Promise<void>;
  /** Drops what is not needed any more, and lets go. */
  release(): Promise<void>;
}

/** What rebuilds run on. */
interface Connections {
  readonly db: Kysely<Database>;
  /** For statements that take their time. */
  readonly slow: Kysely<Database>;
  readonly keepAliveMs: number;
}

export const rebuildsOver = ({ db, ...more }: Connections): Rebuilds => ({
  async generation(projection) {
    const { rows } = await sql<{ generation: number }>`
      select generation from headway.projections where name = ${projection}`.execute(db);
    return rows[0]?.generation ?? null;
  },
  async newest(projection) {
    const { rows } = await sql<Stored>`
      select * from headway.rebuilds where projection = ${projection} order by id desc limit 1`.execute(db);
    return rows[0] === undefined ? null : read(rows[0]);
  },
  takeOn: (worker) => takeOn({ db, ...more }, worker),
});

async function takeOn(connections: Connections, worker: string): Promise<Rebuild | null> {
  const { db } = connections;
  const { rows: wanted } = await sql`
    select from headway.rebuilds where projection = ${FLEET} and state in ('requested', 'running')`.execute(db);
  if (wanted.length === 0) return null;
  // With a worker that dies its lock ends, and another takes the rebuild on.
  const locked = await lock(connections);
  if (locked === null) return null;
  try {
    return await begin(connections, worker, locked);
  } catch (error) {
    await locked.release();
    throw error;
  }
}

const lock = ({ db, keepAliveMs }: Connections) => tryLock(db, sql`hashtext('headway/rebuild')`, keepAliveMs);

async function begin(connections: Connections, worker: string, locked: HeldLock): Promise<Rebuild | null> {
  const { slow } = connections;
  const begun = await slow.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: number; total: number }>`
      update headway.rebuilds set
        state = 'running', worker = ${worker}, started_at = clock_timestamp(), updated_at = clock_timestamp(), done = 0,
        total = (select count(*) from headway.archive where stream in ('EVIDENCE', 'RECORD'))
      where projection = ${FLEET} and state in ('requested', 'running') returning id, total`.execute(tx);
    if (rows[0] !== undefined) await createNext(tx);
    return rows[0] ?? null;
  });
  if (begun === null) {
    await locked.release();
    return null;
  }
  await summarizeIdentities(slow);
  return rebuildOf(connections, { ...begun, worker }, locked);
}

interface Begun {
  readonly id: number;
  readonly total: number;
  readonly worker: string;
}

function rebuildOf(connections: Connections, begun: Begun, taken: HeldLock): Rebuild {
  const { db, slow } = connections;
  const { id, total, worker } = begun;
  let locked = taken;
  /** Whether nobody else is at it: a lock that was lost with its connection is taken again where that is possible. */
  const isLocked = async () => {
    if (!locked.lost.aborted) return true;
    const again = await lock(connections);
    locked = again ?? locked;
    return again !== null;
  };
  /** Runs a step while the rebuild is still this worker's. The row stays locked, so that it is called off before or after. */
  const step = async (run: (tx: Kysely<Database>) => Promise<void>, on = db): Promise<boolean> => {
    if (!(await isLocked())) return false;
    return on.transaction().execute(async (tx) => {
      const { rows } = await sql`
        select from headway.rebuilds where id = ${id} and state = 'running' and worker = ${worker} for update`.execute(
        tx,
      );
      if (rows.length === 0) return false;
      await run(tx);
      return true;
    });
  };
  const note = (tx: Kysely<Database>, done: number) =>
    sql`
      update headway.rebuilds
      set done = done + ${done}, total = greatest(total, done + ${done}), updated_at = clock_timestamp()
      where id = ${id}`.execute(tx);
  return {
    id,
    total,
    page: (stream, after, limit) => readArchivePage(db, stream, after, limit),
    findIdentities: (keys) => findIdentities(db, keys),
    identitiesAt: (range) => identitiesAt(db, range),
    write: (done, known, write) =>
      step(async (tx) => {
        await write(nextChanges(tx, known));
        await note(tx, done);
      }),
    complete: () => step(completeNext, slow),
    switch: (finish) =>
      step(async (tx) => {
        await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(tx);
        await sql`set local statement_timeout = ${sql.lit(SWITCH_TIMEOUT)}`.execute(tx);
        const change = await nextChange(tx);
        const held = await listHolds(tx.withPlugin(intoNextGeneration()));
        await note(
          tx,
          await finish(
            nextChanges(tx),
            held.map(({ aggregate }) => aggregate.key),
          ),
        );
        await takePlace(tx, change);
        await sql`
          update headway.rebuilds set state = 'switched', ended_at = clock_timestamp() where id = ${id}`.execute(tx);
      }, slow),
    fail: async (error) => {
      await sql`
        update headway.rebuilds set state = 'failed', ended_at = clock_timestamp(), error = ${error}
        where id = ${id} and state = 'running' and worker = ${worker}`.execute(db);
    },
    release: async () => {
      try {
        const { rows } = await sql`select from headway.rebuilds where id = ${id} and worker = ${worker}`.execute(db);
        if (rows.length > 0) {
          await dropSchema(slow, NEXT_SCHEMA);
          await dropSchema(slow, OLD_SCHEMA);
        }
      } finally {
        await locked.release();
      }
    },
  };
}

/** Changes of the next generation. What all generations share is left as it is. */
const nextChanges = (tx: Kysely<Database>, known: KnownIdentities = new Map()): Changes => ({
  ...fromArchive(withKnown(tx, known)),
  keepDeadLetters: async () => {},
  closeLetter: async () => false,
  rememberPlace: async () => {},
  requestRebuild: async () => {},
  cancelRebuild: async () => {},
});

/** The changes of the next generation, to which some identities are known. */
function withKnown(tx: Kysely<Database>, known: KnownIdentities): Changes {
  const changes = changesOver(tx.withPlugin(intoNextGeneration()), 0);
  return {
    ...changes,
    async findIdentities(keys) {
      const found = await changes.findIdentities(keys.filter((key) => known.get(key) === undefined));
      for (const key of keys) {
        const standing = known.get(key);
        if (standing !== undefined) found.set(key, standing);
      }
      return found;
    },
    async takeIdentities(identities) {
      // The projection may be about to take the same: one after the other.
      if (identities.length > 0) await lockChanges(tx);
      return changes.takeIdentities(identities);
    },
  };
}

interface Stored {
  readonly id: number;
  readonly projection: string;
  readonly state: RebuildView['state'];
  readonly requested_by: string;
  readonly why: string;
  readonly requested_at: Date;
  readonly started_at: Date | null;
  readonly updated_at: Date | null;
  readonly ended_at: Date | null;
  readonly done: number;
  readonly total: number;
  readonly error: string | null;
}

const read = (row: Stored): RebuildRow => ({
  id: row.id,
  projection: row.projection,
  state: row.state,
  requestedBy: row.requested_by,
  why: row.why,
  requestedAt: row.requested_at.getTime(),
  startedAt: row.started_at?.getTime() ?? null,
  updatedAt: row.updated_at?.getTime() ?? null,
  endedAt: row.ended_at?.getTime() ?? null,
  done: row.done,
  total: row.total,
  error: row.error,
});
