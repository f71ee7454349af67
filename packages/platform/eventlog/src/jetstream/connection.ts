import {
  type ConnectionOptions,
  connect,
  createInbox,
  credsAuthenticator,
  type NatsConnection,
} from '@nats-io/transport-node';
import { LogUnavailable } from '../log.ts';

export interface NatsAccess {
  /** `nats://host:port`, or `nats://user:password@host:port`; one or several of a cluster. */
  readonly servers: string | readonly string[];
  /** Shown by the server's monitoring. */
  readonly name: string;
  readonly credentials?: NatsCredentials;
}

export type NatsCredentials =
  | { readonly user: string; readonly password: string }
  | { readonly token: string }
  /** Content of a `.creds` file. */
  | { readonly creds: string };

/** How long the first connection is tried; once connected, it is made again for ever. */
export const CONNECT_DEADLINE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 2_000;
/** Two missed pings of this distance, and the connection counts as dead. */
const PING_INTERVAL_MS = 10_000;
/** What every NATS server takes unless it was told to take less. */
const MIN_MAX_PAYLOAD = 1024 * 1024;

/** A delay before the next attempt that doubles up to a longest one, spread by half so that clients do not march in step. */
export function backoff(attempt: number): number {
  const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt, 16));
  return delay / 2 + (Math.random() * delay) / 2;
}

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

const inboxPrefixes = new WeakMap<NatsConnection, string>();

/**
 * A new subject for replies. A connection with a user has its inboxes below `_INBOX_<user>`, so that a server can let each user
 * hear its own replies and nobody else's; any other connection has them below `_INBOX`, as NATS clients do.
 */
export const newInbox = (connection: NatsConnection): string => createInbox(inboxPrefixes.get(connection));

/** Throws {@link LogUnavailable} when no server answers within {@link CONNECT_DEADLINE_MS} or lets us in. */
export async function connectNats(access: NatsAccess): Promise<NatsConnection> {
  const deadline = Date.now() + CONNECT_DEADLINE_MS;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const options = optionsOf(access);
      const connection = await connect(options);
      if (options.inboxPrefix !== undefined) inboxPrefixes.set(connection, options.inboxPrefix);
      const maxPayload = connection.info?.max_payload ?? MIN_MAX_PAYLOAD;
      if (maxPayload >= MIN_MAX_PAYLOAD) return connection;
      await connection.close();
      throw new RangeError(`the server's max_payload is ${maxPayload}: set it to ${MIN_MAX_PAYLOAD} or more`);
    } catch (cause) {
      if (cause instanceof RangeError) throw cause;
      const refused = cause instanceof Error && cause.name === 'AuthorizationError';
      if (refused || Date.now() > deadline) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new LogUnavailable(`no connection to ${withoutSecrets(access.servers)}: ${reason}`, { cause });
      }
      await sleep(backoff(attempt));
    }
  }
}

function optionsOf({ servers, name, credentials }: NatsAccess): ConnectionOptions {
  const urls = (typeof servers === 'string' ? servers.split(',') : servers).map((server) => parse(server));
  const inUrl = urls.find((url) => url.username !== '');
  let attempt = 0;
  const shown =
    credentials ??
    (inUrl === undefined
      ? undefined
      : { user: decodeURIComponent(inUrl.username), password: decodeURIComponent(inUrl.password) });
  const user = shown !== undefined && 'user' in shown ? shown.user : '';
  return {
    servers: urls.map((url) => url.host),
    name,
    ...authentication(shown),
    // A name that cannot stand in a subject gets the inboxes of a client without a user.
    ...(/^[A-Za-z0-9_-]+$/.test(user) ? { inboxPrefix: `_INBOX_${user}` } : {}),
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    // Never slow for long: after eight longer and longer delays it begins anew.
    reconnectDelayHandler: () => backoff(attempt++ % 8),
    ignoreAuthErrorAbort: true,
  };
}

function authentication(credentials: NatsCredentials | undefined): ConnectionOptions {
  if (credentials === undefined) return {};
  if ('token' in credentials) return { token: credentials.token };
  if ('creds' in credentials) return { authenticator: credsAuthenticator(new TextEncoder().encode(credentials.creds)) };
  return { user: credentials.user, pass: credentials.password };
}

function parse(server: string): URL {
  try {
    return new URL(server.includes('://') ? server.trim() : `nats://${server.trim()}`);
  } catch (cause) {
    throw new RangeError(`${JSON.stringify(server)} is not the address of a NATS server, like nats://127.0.0.1:4222`, {
      cause,
    });
  }
}

const withoutSecrets = (servers: string | readonly string[]): string =>
  String(servers).replaceAll(/\/\/[^@/,]*@/g, '//');
