import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SignalView, WorkView } from '@headway/contracts';
import { assets, contentSecurityPolicy } from '../src/index.ts';

/** Milliseconds after which the browser opens a dropped stream again, as the server asks it to. */
const RETRY = 50;

/** Serves one page, its assets and a stream that the test writes, on loopback. */
export class PageServer {
  readonly #server = createServer((request, response) =>
    this.#answer(request.url ?? '/', request.headers['last-event-id'], response),
  );
  readonly #streams = new Set<ServerResponse>();
  readonly #sent: { readonly change: number; readonly text: string }[] = [];
  /** Renders whatever is asked for beside assets and stream. */
  page: (path: string) => string = () => '';
  /** While set, the stream answers with this status. */
  refuse: number | null = null;
  readonly pages: string[] = [];
  readonly resumed: number[] = [];

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.drop();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get open(): number {
    return this.#streams.size;
  }

  work(work: WorkView): void {
    this.#send('work', work.change, work);
  }

  signal(change: number, signal: SignalView): void {
    this.#send('signal', change, signal);
  }

  /** Ends every stream, as a restart of the server does. */
  drop(): void {
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
  }

  #send(event: string, change: number, data: unknown): void {
    const text = `event: ${event}\nid: ${change}\ndata: ${JSON.stringify(data)}\n\n`;
    this.#sent.push({ change, text });
    for (const stream of this.#streams) stream.write(text);
  }

  #answer(url: string, lastEventId: string | string[] | undefined, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const asset = assets.get(pathname);
    if (asset !== undefined) {
      response
        .writeHead(200, { 'content-type': asset.contentType, 'cache-control': asset.cacheControl })
        .end(asset.body);
    } else if (pathname === '/v1/stream') {
      this.#stream(Number(lastEventId ?? searchParams.get('since')), response);
    } else {
      this.pages.push(pathname);
      const headers = {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': contentSecurityPolicy,
        'cache-control': 'no-store',
      };
      response.writeHead(200, headers).end(this.page(pathname));
    }
  }

  #stream(since: number, response: ServerResponse): void {
    if (this.refuse !== null) {
      response.writeHead(this.refuse).end();
      return;
    }
    this.resumed.push(since);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(`retry: ${RETRY}\n\n`);
    for (const { change, text } of this.#sent) if (change > since) response.write(text);
    this.#streams.add(response);
    response.on('close', () => this.#streams.delete(response));
  }
}
