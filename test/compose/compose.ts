import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@headway/testkit';
import { type Ran, run } from '../harness/run.ts';
import { repositoryRoot } from '../harness/services.ts';

/** Headway as docker-compose.yml runs it, in a project of its own. */
export interface Composed {
  /** Of the gateway. */
  readonly url: string;
  readonly token: string;
  /** Of the owner of the database. */
  readonly postgresUrl: string;
  /** `docker compose` over this project; throws where it fails. */
  compose(...args: string[]): Promise<string>;
  /** `docker` on the same engine; throws where it fails. */
  docker(...args: string[]): Promise<string>;
  /** The container of a compose service. */
  container(service: string): Promise<string>;
  /** Ends everything and removes its data. */
  stop(): Promise<void>;
}

/** The command that understands the Compose specification, or `null` where there is none or no engine answers. */
export async function findCompose(): Promise<readonly string[] | null> {
  if ((await tried('docker', ['version', '--format', '{{.Server.Version}}'])).code !== 0) return null;
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const [program = '', ...args] = command;
    const { code, stdout } = await tried(program, [...args, 'version', '--short']);
    // The older program of the same name reads another form of the file.
    if (code === 0 && !/^v?1\./.test(stdout.trim())) return command;
  }
  return null;
}

const tried = (program: string, args: readonly string[]): Promise<Ran> =>
  run(program, args, { cwd: repositoryRoot }).catch(() => ({ code: 127, stdout: '', stderr: '' }));

/** Builds the image, and starts everything from nothing. */
export async function startCompose(command: readonly string[]): Promise<Composed> {
  const folder = await mkdtemp(join(tmpdir(), 'headway-compose-'));
  const project = `headway-test-${randomBytes(4).toString('hex')}`;
  const secrets = join(folder, 'env');
  const [port, postgresPort] = [await freePort(), await freePort()];
  const env = {
    HEADWAY_PORT: String(port),
    HEADWAY_TEST_POSTGRES_PORT: String(postgresPort),
    HEADWAY_IMAGE: `headway:${project}`,
  };
  const files = ['docker-compose.yml', 'test/compose/published.yaml'].flatMap((file) => ['--file', file]);
  const [program = '', ...before] = command;
  const settle = (name: string, ran: Ran): string => {
    if (ran.code !== 0) throw new Error(`${name} ended with ${ran.code}:\n${ran.stdout}\n${ran.stderr}`);
    return ran.stdout;
  };
  const docker = async (...args: string[]) =>
    settle(`docker ${args.join(' ')}`, await run('docker', args, { cwd: repositoryRoot }));
  const compose = async (...args: string[]) => {
    const all = [...before, '--project-name', project, ...files, '--env-file', secrets, ...args];
    return settle(`compose ${args.join(' ')}`, await run(program, all, { cwd: repositoryRoot, env }));
  };
  const stop = async () => {
    await compose('down', '--volumes', '--timeout', '20');
    await docker('image', 'rm', '--force', env.HEADWAY_IMAGE);
    await rm(folder, { recursive: true, force: true });
  };

  settle('make-env', await run(process.execPath, ['deploy/compose/make-env.mjs', secrets], { cwd: repositoryRoot }));
  const made = await readFile(secrets, 'utf8');
  const secret = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(made)?.[1] ?? '';
  try {
    await compose('build');
    await compose('up', '--detach', '--wait');
  } catch (error) {
    const logs = await compose('logs', '--tail', '20').catch(String);
    await stop().catch(() => {});
    throw new Error(`${String(error)}\n${logs}`);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    token: secret('HEADWAY_OPERATOR_TOKEN'),
    postgresUrl: `postgres://headway:${secret('POSTGRES_ADMIN_PASSWORD')}@127.0.0.1:${postgresPort}/headway`,
    compose,
    docker,
    container: async (service) => (await compose('ps', '--all', '--quiet', service)).trim(),
    stop,
  };
}
