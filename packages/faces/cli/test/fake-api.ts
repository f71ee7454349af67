import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { problem, type SignalView, type WorkView } from '@headway/contracts';

interface Reported {
  readonly id: string;
  readonly source: string;
  readonly subject: string;
  readonly type: string;
  readonly data: Record<string, any>;
}

/** As the signaller judges: an answer on the signal's thread, from one it was sent to, acknowledges it. */
const answered = (signal: SignalView, { data }: Reported): SignalView =>
  signal.signal === data.inReplyTo && signal.to.includes(String(data.from))
    ? { ...signal, state: 'acknowledged' }
    : signal;

/** The routes of the API that the command line uses, over real HTTP, with what was asked kept for a look. */
export async function startFakeApi(port = 0) {
  const state = {
    events: [] as Reported[],
    requests: [] as { url: string; headers: IncomingMessage['headers'] }[],
    works: [] as WorkView[],
    signals: [] as SignalView[],
    brief: '# Brief\n',
    /** Answers every request with this status instead. */
    status: null as number | null,
    /** Events whose gate has this name are refused. */
    refuse: null as string | null,
    /** A view that never gets to any position. */
    behind: false,
    stream: [] as string[],
  };
  const known = new Map<string, number>();
  const server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://host');
    state.requests.push({ url: request.url ?? '', headers: request.headers });
    const body: Buffer[] = [];
    for await (const chunk of request) body.push(chunk as Buffer);
    const json = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (state.status !== null) return json(state.status, {});
    if (state.behind && url.searchParams.has('after')) return json(504, problem('not_yet', 'It did not get there.'));
    if (url.pathname === '/v1/events')
      return json(202, accept(JSON.parse(Buffer.concat(body).toString()) as Reported[]));
    if (url.pathname === '/v1/works') return json(200, { items: state.works, next: null, position: 'EVIDENCE:1:9' });
    if (url.pathname === '/v1/signals')
      return json(200, { items: state.signals, next: null, position: 'EVIDENCE:1:9' });
    if (url.pathname === '/readyz') return json(200, { ready: true, version: '0.1.0' });
    if (url.pathname.endsWith('/brief')) {
      response.writeHead(200, { 'content-type': 'text/markdown' }).end(state.brief);
      return;
    }
    if (url.pathname === '/v1/stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(state.stream.shift() ?? '');
      return;
    }
    json(404, problem('not_found', 'Nothing is there.'));
  }
  function accept(events: Reported[]) {
    const verdicts = events.map((event) => {
      const { id, source } = event;
      if (state.refuse !== null && event.data.gate === state.refuse)
        return { verdict: 'refused', id, source, problem: problem('invalid_event', 'This gate is not wanted.') };
      const key = `${source} ${id}`;
      const verdict = known.has(key) ? 'duplicate' : 'accepted';
      if (verdict === 'accepted') {
        state.events.push(event);
        if (event.type === 'headway.signal.sent') state.signals = state.signals.map((one) => answered(one, event));
        known.set(key, state.events.length);
      }
      return { verdict, id, source, position: `EVIDENCE:1:${known.get(key)}` };
    });
    return { accepted: verdicts.length, duplicate: 0, refused: 0, position: null, events: verdicts };
  }
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const taken = (server.address() as AddressInfo).port;
  return {
    state,
    port: taken,
    url: `http://127.0.0.1:${taken}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
