import { openPool, type Rebuilds, readModelOver } from '@headway/readmodel';
import { eventually, type TestPostgres } from '@headway/testkit';
import { expect } from 'vitest';
import { evidence, fact } from './records.ts';
import { contents, type Rig, startRig } from './rig.ts';
import { createTraffic } from './traffic.ts';

/** A worker of rebuilds that dies at a statement: before it, or after it and before it hears of it. */
interface Mortal {
  readonly rebuilds: Rebuilds;
  statements(): number;
  /** Its connections break, as those of a process that was killed. */
  bury(): Promise<void>;
}

function mortal(url: string, dies: { readonly at: number; readonly after: boolean }): Mortal {
  const pool = openPool({ url, connections: 6, name: 'mortal' });
  const clients = new Set<{ end(): Promise<void> }>();
  let statements = 0;
  const dead = () => Object.assign(new Error('nobody is there'), { code: 'ECONNREFUSED' });
  const around = async (run: () => Promise<unknown>) => {
    statements += 1;
    if (statements < dies.at) return run();
    if (statements === dies.at && dies.after) await run();
    await Promise.all([...clients].map((client) => client.end().catch(() => undefined)));
    throw dead();
  };
  const model = readModelOver({
    pool: {
      options: {},
      end: () => pool.end(),
      connect: async () => {
        if (statements >= dies.at) throw dead();
        const client = await pool.connect();
        clients.add(client as unknown as { end(): Promise<void> });
        return {
          query: (text: string, values: readonly unknown[]) => around(() => client.query(text, [...values])),
          release: () => client.release(statements >= dies.at),
        };
      },
    } as never,
  });
  return { rebuilds: model.rebuilds, statements: () => statements, bury: () => model.close() };
}

const TABLES = [
  'works',
  'timeline',
  'signals',
  'members',
  'coverage',
  'recipients',
  'usage',
  'holds',
  'waiting',
  'letters',
];
const shown = async (rig: Rig) => {
  const all = (await contents(rig)) as Record<string, readonly object[]>;
  return Object.fromEntries(TABLES.map((table) => [table, all[table]]));
};

const ask = ({ sql, watch }: Rig) =>
  sql(`insert into headway.rebuilds (projection, state, requested_by, why, requested_at)
    values ('fleet', 'requested', 'test', 'test', now())`).then(() => watch.notify());

/**
 * Lets a rebuild die at one statement after another, `tried` of them spread over all, and another process take it on.
 * After each death everything is as it was, and the next process comes to the same rows. Answers with how many statements
 * a rebuild has.
 */
export async function killAnywhere(server: TestPostgres, tried: number): Promise<number> {
  let rebuilds: Rebuilds | null = null;
  const rig = await startRig(server, { rebuilds: (inner) => rebuilds ?? inner });
  try {
    const traffic = createTraffic(3);
    for (let round = 0; round < 3; round += 1) await traffic.say(rig);
    // One that cannot be read, and one behind it: a hold is part of what is rebuilt.
    const later = evidence('W-0', [fact('headway.work.claimed', { worker: 'w' })]);
    await rig.say({ ...later, payload: Buffer.from(Buffer.from(later.payload).toString().replace('"v":1', '"v":9')) });
    await traffic.say(rig);
    rig.project();
    await rig.settled();
    await rig.endProjecting();
    const before = await shown(rig);
    const state = async () => (await rig.model.rebuilds.newest('fleet'))?.state;
    const ended = async () => ['switched', 'failed'].includes((await state()) ?? '');
    const run = async (until: () => Promise<boolean>, what: () => string = () => '') => {
      rig.project();
      await ask(rig).catch(() => undefined);
      await eventually(until, { what: `the end of a rebuild, or of its process (${what()})` });
      await rig.endProjecting();
    };
    const whole = mortal(rig.url, { at: Number.POSITIVE_INFINITY, after: false });
    rebuilds = whole.rebuilds;
    await run(ended);
    await whole.bury();
    expect(await shown(rig)).toEqual(before);
    const total = whole.statements();
    for (let turn = 0; turn < tried; turn += 1) {
      const dies = { at: 2 + Math.floor((turn * (total - 2)) / tried), after: turn % 2 === 1 };
      const dying = mortal(rig.url, dies);
      rebuilds = dying.rebuilds;
      // One that needs fewer statements than the first lives.
      await run(
        async () => dying.statements() >= dies.at || (await state()) === 'switched',
        () => JSON.stringify({ dies, total, at: dying.statements() }),
      );
      await dying.bury();
      expect({ dies, rows: await shown(rig) }).toEqual({ dies, rows: before });
      expect(await state(), JSON.stringify(dies)).not.toBe('failed');
      rebuilds = null;
      await run(async () => (await state()) === 'switched');
      expect({ dies, rows: await shown(rig) }).toEqual({ dies, rows: before });
    }
    return total;
  } finally {
    await rig.endProjecting();
    await rig.stop();
  }
}
