import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { authorizationBlock } from '@headway/bus-users';
import { type Guarded, startGuarded } from './guarded.ts';

export const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;
const PATIENCE_MS = 10_000;

/** The version of a nats-server binary, as its numbers. */
export function natsVersion(binary: string): number[] {
  const text = execFileSync(binary, ['--version'], { encoding: 'utf8' });
  const found = /v(\d+)\.(\d+)\.(\d+)/.exec(text);
  if (found === null) throw new Error(`${binary} --version answered "${text.trim()}"`);
  return found.slice(1, 4).map(Number);
}

/** From 2.10 on a server can be told to write to disk before it acknowledges; an older one refuses the setting. */
export function canSyncAlways([major = 0, minor = 0]: readonly number[]): boolean {
  return major > 2 || (major === 2 && minor >= 10);
}

export interface NatsOptions {
  readonly port: number;
  /** Tells this server from any other that might answer at the port. */
  readonly serverName: string;
  readonly syncAlways: boolean;
  /** Of each user. Whoever comes without one may only listen: agents run on this machine too. */
  readonly passwords: ReadonlyMap<string, string>;
}

export function natsConfiguration(options: NatsOptions & { storeFolder: string }): string {
  return `host: "127.0.0.1"
port: ${options.port}
server_name: ${JSON.stringify(options.serverName)}
max_payload: ${MAX_PAYLOAD_BYTES}
${authorizationBlock({ passwordOf: (user) => ({ text: passwordOf(options, user) }), open: true })}jetstream {
  store_dir: ${JSON.stringify(options.storeFolder)}
${options.syncAlways ? '  sync_interval: always\n' : ''}}
`;
}

function passwordOf({ passwords }: NatsOptions, user: string): string {
  const password = passwords.get(user);
  if (password === undefined) throw new Error(`the bus user ${user} has no password`);
  return password;
}

/** Starts a nats-server with JetStream on loopback, its data in `folder`. */
export function startNats(binary: string, folder: string, options: NatsOptions): Guarded {
  const storeFolder = join(folder, 'store');
  mkdirSync(storeFolder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'nats-server.conf');
  writeFileSync(file, natsConfiguration({ ...options, storeFolder }), { mode: 0o600 });
  return startGuarded(binary, ['--config', file], { cwd: folder, stopSignal: 'SIGTERM', patienceMs: PATIENCE_MS });
}
