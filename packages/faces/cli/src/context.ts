import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { type Client, createClient, type Failure, failureText } from '@headway/client';
import { exitCodes } from './exit-codes.ts';
import { cliLimits } from './limits.ts';
import { createReporter, type Reporter } from './report/reporter.ts';
import { openSpool, type Spool } from './report/spool.ts';
import { type Memory, memoryOf, serverKey, stateFolder } from './state-folder.ts';

export const DEFAULT_URL = 'http://127.0.0.1:4680';

/** What a command stands on: the environment, the streams, the server. */
export interface Context {
  readonly environment: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable;
  readonly url: string;
  readonly reader: Client;
  readonly reporter: Reporter;
  readonly spool: Spool;
  readonly memory: Memory;
}

/** Throws a TypeError that says what to change where `HEADWAY_URL` is no address. */
export function createContext(
  environment: NodeJS.ProcessEnv,
  cwd: string,
  streams: Pick<Context, 'stdout' | 'stderr'>,
): Context {
  const url = environment.HEADWAY_URL || DEFAULT_URL;
  const tenant = environment.HEADWAY_TENANT || undefined;
  const options = { url, tenant, token: environment.HEADWAY_TOKEN || undefined };
  const client = (timeoutMs: number): Client => {
    try {
      return createClient({ ...options, timeoutMs });
    } catch {
      throw new TypeError(`HEADWAY_URL is ${JSON.stringify(url)}: set it to an address such as ${DEFAULT_URL}`);
    }
  };
  const server = serverKey(url, tenant);
  const folder = stateFolder(environment);
  const spool = openSpool(join(folder, 'spool', server));
  const memory = memoryOf(folder, server);
  return {
    environment,
    cwd,
    stdout: streams.stdout,
    stderr: streams.stderr,
    url,
    reader: client(cliLimits.readMs),
    reporter: createReporter(client(cliLimits.reportMs), spool, memory),
    spool,
    memory,
  };
}

/** The same, for another tenant. */
export const withTenant = (context: Context, tenant: string): Context =>
  createContext({ ...context.environment, HEADWAY_TENANT: tenant }, context.cwd, context);

export const say = (context: Pick<Context, 'stderr'>, text: string): void => {
  context.stderr.write(`headway: ${oneLine(text)}\n`);
};

export const print = (context: Pick<Context, 'stdout'>, text: string): void => {
  context.stdout.write(`${text}\n`);
};

export const printJson = (context: Pick<Context, 'stdout'>, value: unknown): void =>
  print(context, JSON.stringify(value));

/** Text of others on a terminal: one line, without control characters that could move the cursor or hide things. */
export const oneLine = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex -- these are what is taken out
    .replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();

/** Says why the server gave no answer and what to do; the exit code tells the kind. */
export function failed(context: Pick<Context, 'stderr' | 'url'>, failure: Failure): number {
  if (failure.kind === 'refused') {
    say(context, failureText(failure));
    return exitCodes.refused;
  }
  say(
    context,
    `${failure.reason}. Start it with \`headway up\`, or set HEADWAY_URL (now ${context.url}); \`headway doctor\` looks closer`,
  );
  return exitCodes.unavailable;
}
