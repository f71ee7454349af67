import { spawn } from 'node:child_process';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually, startNats, startPostgres } from '@headway/testkit';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { expect, it } from 'vitest';

async function rows(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

it('gives a Postgres whose committed rows survive a kill, with databases apart', async () => {
  const postgres = await startPostgres({ own: true });
  try {
    await rows(postgres.url, 'create table kept (n int)');
    await rows(postgres.url, 'insert into kept values (7)');
    const other = await postgres.createDatabase();
    expect(await rows(other, "select to_regclass('kept') as kept")).toEqual([{ kept: null }]);
    const before = postgres.pid;
    await postgres.kill9();
    await expect(rows(postgres.url, 'select 1')).rejects.toThrow();
    await postgres.restart();
    expect(postgres.pid).not.toBe(before);
    expect(await rows(postgres.url, 'select n from kept')).toEqual([{ n: 7 }]);
  } finally {
    await postgres.stop();
  }
});

it('gives a NATS server with JetStream at one address over kill and restart', async () => {
  const nats = await startNats({ own: true });
  try {
    const ask = async (subject: string, body: object) => {
      const connection = await connect({ servers: nats.url });
      try {
        return (await connection.request(subject, JSON.stringify(body))).json<Record<string, never>>();
      } finally {
        await connection.close();
      }
    };
    expect(await ask('$JS.API.STREAM.CREATE.KEPT', { name: 'KEPT', subjects: ['kept.>'] })).not.toHaveProperty('error');
    expect(await ask('kept.one', {})).toMatchObject({ stream: 'KEPT', seq: 1 });
    await nats.kill9();
    await expect(connect({ servers: nats.url, reconnect: false })).rejects.toThrow();
    await nats.restart();
    expect(await ask('$JS.API.STREAM.INFO.KEPT', {})).toMatchObject({ state: { messages: 1 } });
  } finally {
    await nats.stop();
  }
});

it('leaves no server behind when the test process is killed', async () => {
  const program = fileURLToPath(new URL('./hold-servers.ts', import.meta.url));
  const holder = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await new Promise<string[]>((resolve) => {
    createInterface(holder.stdout).once('line', (text) => resolve([text]));
  })) as [string];
  const urls = JSON.parse(line) as string[];
  expect(urls).toHaveLength(2);
  for (const url of urls) expect(await listensAt(url)).toBe(true);
  holder.kill('SIGKILL');
  for (const url of urls)
    await eventually(async () => !(await listensAt(url)), { within: 30_000, what: `the end of the server at ${url}` });
});

/** Servers in containers have no pid that this machine must know: whether one runs is seen at its address. */
function listensAt(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), hostname);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
