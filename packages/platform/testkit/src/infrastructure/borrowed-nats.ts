import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { connect } from '@nats-io/transport-node';
import { eventually } from './eventually.ts';

import { isAlive, scratchRoot } from './scratch.ts';
import type { TestNats } from './test-nats.ts';

/** The streams that tests make. Whatever else the server holds is left alone. */
const OUR_STREAMS = ['EVIDENCE', 'RECORD', 'EFFECTS', 'FEED', 'ACTS'];
const TURN_WITHIN_MS = 110_000;

/**
 * A running server, emptied of our streams before and after. A client cannot make accounts, so test processes take
 * turns on it.
 */
export async function borrowNats(url: string): Promise<TestNats> {
  const giveBack = await takeTurn(url);
  const empty = async (): Promise<string> => {
    const connection = await connect({ servers: url });
    try {
      for (const stream of OUR_STREAMS) await connection.request(`$JS.API.STREAM.DELETE.${stream}`);
      return connection.info?.version ?? 'unknown';
    } finally {
      await connection.close();
    }
  };
  const notOurs = async () => {
    throw new Error('the server of HEADWAY_TEST_NATS_URL is not ours to end: ask for one with `own: true`');
  };
  const version = await empty().catch((error) => {
    giveBack();
    throw error;
  });
  return {
    url,
    version,
    sync: 'unknown',
    pid: 0,
    dataDir: null,
    async stop() {
      try {
        await empty();
      } finally {
        giveBack();
      }
    },
    kill9: notOurs,
    restart: notOurs,
  };
}

/** Waits until no other process on this machine tests on the server; answers with how to let the next one in. */
async function takeTurn(url: string): Promise<() => void> {
  const file = path.join(scratchRoot(), `turn-${createHash('sha256').update(url).digest('hex').slice(0, 16)}`);
  await eventually(
    () => {
      try {
        writeFileSync(file, String(process.pid), { flag: 'wx' });
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = Number(readFileSync(file, 'utf8'));
      if (holder > 0 && !isAlive(holder)) rmSync(file, { force: true });
      return false;
    },
    {
      within: TURN_WITHIN_MS,
      what: 'a turn on the server of HEADWAY_TEST_NATS_URL (run test files one by one, with --no-file-parallelism)',
    },
  );
  return () => rmSync(file, { force: true });
}
