import { connect, headers, type Msg, type NatsConnection } from '@nats-io/transport-node';

export interface OneMessage {
  /** `nats://host:port`, or with `user:password@`: a bus of somebody else. */
  readonly server: string;
  readonly stream: string;
  readonly subject: string;
  readonly body: string;
  /** The server stores no second message with this id within its window. */
  readonly id: string;
  /** How long the stream has to remember ids at least, in seconds. */
  readonly rememberedSeconds: number;
  readonly signal: AbortSignal;
}

/** How far one publish came; only `stored` and `refused` are answers of the stream. */
export type PublishedOnce =
  | { readonly came: 'stored'; readonly sequence: number }
  | { readonly came: 'refused'; readonly reason: string }
  | { readonly came: 'not-sent'; readonly reason: string }
  | { readonly came: 'unknown'; readonly reason: string };

const CONNECT_MS = 5_000;
/** Another stream is expected; the message, or the stream, would be above its limits. */
const REFUSALS: ReadonlySet<number> = new Set([10054, 10060, 10077, 10122]);

/** Publishes one message over a connection of its own, once: no second try, no reconnecting. Never throws. */
export async function publishOnce(message: OneMessage): Promise<PublishedOnce> {
  const { signal } = message;
  const progress = { written: false };
  let connection: NatsConnection | null = null;
  const aborted = new Promise<never>((_, reject) => {
    const over = () => reject(new Error('no complete answer in time'));
    if (signal.aborted) over();
    else signal.addEventListener('abort', over, { once: true });
  });
  aborted.catch(() => {});
  try {
    const connecting = connect(optionsOf(message.server));
    // One that comes too late is closed as it comes.
    connecting.then((late) => (signal.aborted ? late.close() : undefined)).catch(() => {});
    connection = await Promise.race([connecting, aborted]);
    return await Promise.race([publish(connection, message, progress), aborted]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { came: progress.written ? 'unknown' : 'not-sent', reason };
  } finally {
    connection?.close().catch(() => {});
  }
}

function optionsOf(server: string) {
  const { hostname, port, username, password } = new URL(server);
  return {
    servers: `${hostname}:${port || '4222'}`,
    name: 'headway effect',
    reconnect: false,
    timeout: CONNECT_MS,
    ...(username === '' ? {} : { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  };
}

async function publish(
  connection: NatsConnection,
  message: OneMessage,
  progress: { written: boolean },
): Promise<PublishedOnce> {
  const timeout = 300_000;
  const info = await connection.request(`$JS.API.STREAM.INFO.${message.stream}`, '', { timeout });
  const { config, error: unknown } = info.json<{
    config?: { duplicate_window?: number };
    error?: { description?: string };
  }>();
  if (config === undefined)
    return { came: 'not-sent', reason: unknown?.description ?? 'the stream cannot be looked at' };
  const remembered = (config.duplicate_window ?? 0) / 1e9;
  if (remembered < message.rememberedSeconds)
    return { came: 'refused', reason: `the stream remembers ids for ${remembered} s, less than the targets file says` };
  const own = headers();
  own.set('Nats-Msg-Id', message.id);
  own.set('Nats-Expected-Stream', message.stream);
  progress.written = true;
  let answer: Msg;
  try {
    answer = await connection.request(message.subject, message.body, { headers: own, timeout });
  } catch (error) {
    // The server itself says that nobody heard it, no stream either.
    if ((error as Error).name === 'NoRespondersError')
      return { came: 'not-sent', reason: 'no stream takes this subject now' };
    throw error;
  }
  return readAnswer(answer, message.stream);
}

interface Acknowledged {
  readonly stream?: string;
  readonly seq?: number;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

function readAnswer(answer: Msg, stream: string): PublishedOnce {
  const { error, stream: stored, seq } = answer.json<Acknowledged>();
  if (error !== undefined)
    return { came: REFUSALS.has(error.err_code ?? 0) ? 'refused' : 'unknown', reason: error.description ?? 'an error' };
  if (stored !== stream || seq === undefined || seq < 1)
    return { came: 'unknown', reason: 'no acknowledgement of this stream' };
  return { came: 'stored', sequence: seq };
}
