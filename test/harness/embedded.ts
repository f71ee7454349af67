import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort } from '@headway/testkit';
import { repositoryRoot } from './services.ts';

/** The whole product as `npm start` runs it, with a data folder of its own. */
export interface Embedded {
  readonly url: string;
  readonly natsUrl: string;
  readonly tokenFile: string;
  readonly commandLine: string;
  /** Everything it printed so far. */
  output(): string;
  stop(): Promise<number | null>;
}

const READY_MILLISECONDS = 180_000;

export async function startEmbedded(environment: Readonly<Record<string, string>> = {}): Promise<Embedded> {
  const folder = await mkdtemp(join(tmpdir(), 'headway embedded '));
  let output = '';
  const child = spawn(process.execPath, ['deploy/embedded/bootstrap/start.mjs'], {
    cwd: repositoryRoot,
    env: { ...process.env, HEADWAY_DATA_DIR: folder, HEADWAY_PORT: String(await freePort()), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  let code: number | null | undefined;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (status) => {
      code = status;
      resolve();
    });
  });
  const stop = async () => {
    child.kill('SIGINT');
    await exited;
    await rm(folder, { recursive: true, force: true });
    return code ?? null;
  };
  await eventually(() => output.includes('Ctrl-C here stops all of it.') || code !== undefined, {
    within: READY_MILLISECONDS,
    what: 'Headway to be ready',
  }).catch(async (error: unknown) => {
    await stop();
    throw new Error(`${String(error)}\n${output}`);
  });
  if (code !== undefined) throw new Error(`Headway ended with ${code} before it was ready:\n${output}`);
  const said = (pattern: RegExp) => {
    const found = pattern.exec(output)?.[1];
    if (found === undefined) throw new Error(`${pattern} is not in what Headway printed:\n${output}`);
    return found.trim();
  };
  return {
    url: said(/^headway ready: (.+)$/m),
    natsUrl: said(/^ +subscribe at +(\S+)/m),
    tokenFile: said(/^ +operator token +(.+)$/m),
    commandLine: said(/^ +command line +(.+)$/m),
    output: () => output,
    stop,
  };
}
