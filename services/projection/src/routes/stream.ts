import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { problem, type SignalKind } from '@headway/contracts';
import { isStoreAway } from '@headway/readmodel';
import { sendProblem } from '@headway/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { signalView, workView } from '../views.ts';
import type { Reading } from './context.ts';
import { invalid, lastEventId, parameters, readQuery } from './parameters.ts';

/** Clients at once. */
export const STREAM_CLIENTS = 128;
/** Rows that one client may have on the way; what changes meanwhile is sent as it stands then. */
export const STREAM_ROWS = 200;
/** A comment after so many milliseconds without an event, so that what lies between does not close the connection. */
export const HEARTBEAT = 15_000;
/** A client that takes nothing for so long is let go. Milliseconds. */
export const STALLED = 30_000;
/** Changes are collected for so long before they are sent. Milliseconds. */
const COLLECT = 100;
/** Commits of another process are looked for so often. Milliseconds. */
const LOOK_AGAIN = 1_000;

interface Client {
  readonly tenant: string;
  readonly work: string | null;
  /** Only signals of this kind, and no works; `null` = everything. */
  readonly kind: SignalKind | null;
  readonly out: ServerResponse;
  readonly signal: AbortSignal;
}

/**
 * Server-sent events: `work` with a work as it now stands, `signal` with a signal. The id is the number of the change up
 * to which everything was sent; of rows that changed together only the last one carries it, so that whoever resumes
 * from it (`Last-Event-ID`, or `?since=`) never misses one. A client that falls behind skips what was overwritten
 * meanwhile, and always ends with the present state.
 * `?kind=` sends signals of that kind alone, `?work=` what is about that work.
 */
export function mountStream(app: FastifyInstance, reading: Reading): void {
  const clients = new Set<AbortController>();
  app.addHook('preClose', async () => {
    for (const client of clients) client.abort();
  });
  app.get('/v1/stream', { config: { act: 'read' } }, async (request, reply) => {
    const query = readQuery(parameters.stream, request.query);
    if (!query.ok) return sendProblem(reply, query.failure);
    const resumed = lastEventId.optional().safeParse(request.headers['last-event-id'] || undefined);
    if (!resumed.success)
      return sendProblem(reply, invalid('Last-Event-ID', 'is not an id that this stream has given'));
    if (clients.size >= STREAM_CLIENTS)
      return sendProblem(reply, problem('too_busy', `${STREAM_CLIENTS} clients already follow the stream.`));
    const gone = new AbortController();
    clients.add(gone);
    try {
      const newest = await reading.views.newestChange();
      const since = resumed.data ?? query.value.since ?? newest;
      const { work = null, kind = null } = query.value;
      const client = open(request, reply, { work, kind }, gone);
      // A number that was never given belongs to an older store: everything is sent again.
      await follow(reading, client, since > newest ? 0 : since);
    } catch (error) {
      if (!reply.raw.headersSent && isStoreAway(error))
        return sendProblem(reply, problem('store_unavailable', 'Postgres cannot be reached. Try again in a moment.'));
      if (!reply.raw.headersSent) throw error;
      // The client comes back by itself and goes on from the last id.
      request.log.warn({ err: error }, 'a stream ended');
    } finally {
      clients.delete(gone);
      if (reply.raw.headersSent) reply.raw.destroy();
    }
    return reply;
  });
}

function open(
  request: FastifyRequest,
  reply: FastifyReply,
  wanted: Pick<Client, 'work' | 'kind'>,
  gone: AbortController,
): Client {
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  reply.raw.once('close', () => gone.abort());
  reply.raw.on('error', () => gone.abort());
  reply.raw.write(': headway\n\n');
  return { tenant: request.caller.tenant, ...wanted, out: reply.raw, signal: gone.signal };
}

async function follow({ views, watch }: Reading, client: Client, since: number): Promise<void> {
  let sent = since;
  let heartbeat = performance.now() + HEARTBEAT;
  while (!client.signal.aborted) {
    const seen = watch.told;
    const upTo = await views.newestChange();
    if (upTo > sent && (await sendSpan(views, client, sent, upTo))) heartbeat = performance.now() + HEARTBEAT;
    sent = Math.max(sent, upTo);
    if (performance.now() >= heartbeat) {
      await write(client, ': still here\n\n');
      heartbeat = performance.now() + HEARTBEAT;
    }
    await watch.next(seen, LOOK_AGAIN, client.signal);
    await pause(COLLECT, client.signal);
  }
}

interface Row {
  readonly event: 'work' | 'signal';
  readonly data: object;
}

/** Everything that changed after `after` up to `upTo`. One row is held back so that the last one can carry the id. */
async function sendSpan(views: Reading['views'], client: Client, after: number, upTo: number): Promise<boolean> {
  let held: Row | null = null;
  for await (const row of changedRows(views, client, after, upTo)) {
    if (held !== null) await write(client, encode(held, null));
    held = row;
  }
  if (held !== null) await write(client, encode(held, upTo));
  return held !== null;
}

async function* changedRows(
  views: Reading['views'],
  { tenant, work, kind, signal }: Client,
  after: number,
  upTo: number,
): AsyncGenerator<Row> {
  const window = { tenant, after, upTo, limit: STREAM_ROWS };
  for (let from = { change: after, id: '' }, more = kind === null; more && !signal.aborted; ) {
    const rows = await views.changedWorks({ ...window, from });
    for (const row of rows) if (work === null || row.work === work) yield { event: 'work', data: workView(row) };
    const last = rows.at(-1);
    more = rows.length === STREAM_ROWS && last !== undefined;
    if (last !== undefined) from = { change: last.change, id: last.work };
  }
  for (let from = { change: after, id: '' }, more = true; more && !signal.aborted; ) {
    const rows = await views.changedSignals({ ...window, from });
    for (const row of rows)
      if ((kind === null || row.kind === kind) && (work === null || row.works.includes(work)))
        yield { event: 'signal', data: signalView(row) };
    const last = rows.at(-1);
    more = rows.length === STREAM_ROWS && last !== undefined;
    if (last !== undefined) from = { change: last.change, id: last.signal };
  }
}

const encode = ({ event, data }: Row, id: number | null) =>
  `event: ${event}\n${id === null ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

/** Waits until the client has taken what was written, so that nothing piles up for a slow one. */
async function write({ out, signal }: Client, text: string): Promise<void> {
  if (signal.aborted || out.write(text)) return;
  const overdue = AbortSignal.timeout(STALLED);
  try {
    await once(out, 'drain', { signal: AbortSignal.any([signal, overdue]) });
  } catch (error) {
    if (overdue.aborted) throw new Error(`the client took nothing for ${STALLED / 1_000} s`, { cause: error });
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
