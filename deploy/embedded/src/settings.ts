import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from './terminal.ts';

export const DEFAULT_PORT = 4680;

export interface Settings {
  readonly repositoryRoot: string;
  readonly dataFolder: string;
  /** A port asked for by name is taken or the start fails; the default one gives way to the next free one. */
  readonly port: { readonly number: number; readonly byName: boolean };
  readonly publicUrl: string | undefined;
  /** Servers that run already; undefined = start one here. */
  readonly natsUrl: string | undefined;
  readonly postgresUrl: string | undefined;
  /** Where the set-up found the binaries of what is started here. */
  readonly natsServer: string | undefined;
  readonly postgresHome: string | undefined;
  /** Passed on to the services. */
  readonly environment: NodeJS.ProcessEnv;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

function portOf(text: string | undefined): Settings['port'] {
  if (text === undefined) return { number: DEFAULT_PORT, byName: false };
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > 65_535) {
    throw new StartError(
      `HEADWAY_PORT is "${text}". Set it to a port number from 1 to 65535, or to 0 for any free one.`,
    );
  }
  return { number, byName: true };
}

/** Reads the settings from environment variables; an empty one is the same as an unset one. */
export function readSettings(environment: NodeJS.ProcessEnv, cwd: string): Settings {
  const value = (name: string): string | undefined => (environment[name] === '' ? undefined : environment[name]);
  const natsUrl = value('HEADWAY_NATS_URL');
  const postgresUrl = value('HEADWAY_POSTGRES_URL');
  const natsServer = value('HEADWAY_NATS_SERVER');
  const postgresHome = value('HEADWAY_POSTGRES_HOME');
  if (
    (natsUrl === undefined && natsServer === undefined) ||
    (postgresUrl === undefined && postgresHome === undefined)
  ) {
    throw new StartError(
      'the servers to start are not known: start Headway with `npm start`, which brings them first.',
    );
  }
  return {
    repositoryRoot: ROOT,
    dataFolder: resolve(cwd, value('HEADWAY_DATA_DIR') ?? `${ROOT}/.headway`),
    port: portOf(value('HEADWAY_PORT')),
    publicUrl: value('HEADWAY_PUBLIC_URL'),
    natsUrl,
    postgresUrl,
    natsServer,
    postgresHome,
    environment,
  };
}
