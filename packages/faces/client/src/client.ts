import type {
  EventsAnswer,
  FleetReport,
  Page,
  PoliciesView,
  PolicyAnswer,
  PositionText,
  RecoverView,
  SignalView,
  TimelineEntry,
  WorkView,
} from '@headway/contracts';
import { ok, refused } from '@headway/kernel';
import { type Answer, type Failure, failureOf } from './answer.ts';
import { type EffectsClient, effectsClient } from './effects.ts';
import { clientLimits } from './limits.ts';
import { readStream, type StreamItem, type StreamOptions } from './stream.ts';

export interface ClientOptions {
  /** Where the API is, e.g. `http://127.0.0.1:4680`. A path in it stays in front of every route. */
  readonly url: string;
  readonly token?: string | undefined;
  /** Only with a token; without one the tenant is `default`. */
  readonly tenant?: string | undefined;
  readonly fetch?: typeof fetch;
  /** For one request, in milliseconds. */
  readonly timeoutMs?: number;
}

export interface ReadOptions {
  /** Waits, bounded by the server, until the view covers this position. */
  readonly after?: PositionText | undefined;
}

export interface PageOptions extends ReadOptions {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export interface Readiness {
  readonly ready: boolean;
  /** What the server said about itself, as it came. */
  readonly body: unknown;
  /** The server's clock as it answered; `null` where it did not say. */
  readonly date: string | null;
}

/** Typed calls of the API. Nothing throws but a wrong URL at creation; failures are values. */
export interface Client {
  /** Reports a batch of CloudEvents. Safe to repeat: an event is known by its source and id. */
  report(events: readonly object[]): Promise<Answer<EventsAnswer>>;
  /** The same for text in NDJSON, one event a line. */
  reportLines(ndjson: string): Promise<Answer<EventsAnswer>>;
  works(options?: PageOptions & { readonly class?: string | undefined }): Promise<Answer<Page<WorkView>>>;
  work(work: string, options?: ReadOptions): Promise<Answer<WorkView>>;
  timeline(work: string, options?: PageOptions): Promise<Answer<Page<TimelineEntry>>>;
  /** Markdown. */
  brief(work: string, options?: ReadOptions): Promise<Answer<string>>;
  signals(
    options?: PageOptions & {
      readonly state?: string | undefined;
      readonly kind?: string | undefined;
      readonly work?: string | undefined;
      readonly to?: string | undefined;
    },
  ): Promise<Answer<Page<SignalView>>>;
  signal(signal: string, options?: ReadOptions): Promise<Answer<SignalView>>;
  /** Answers a signal on its thread. Safe to repeat: the same reply twice is one. */
  reply(
    signal: string,
    reply: { readonly intent: string; readonly from: string; readonly to?: readonly string[]; readonly text?: string },
  ): Promise<Answer<{ readonly work: string; readonly reply: string; readonly position: PositionText | null }>>;
  recover(work: string, options?: ReadOptions): Promise<Answer<RecoverView>>;
  fleetReport(options?: PageOptions & { readonly days?: number | undefined }): Promise<Answer<FleetReport>>;
  policies(options?: ReadOptions): Promise<Answer<PoliciesView>>;
  /** Needs the operator token. The same change twice is one. */
  setPolicy(change: object): Promise<Answer<PolicyAnswer>>;
  /** The live stream, resumed after interruptions. Ends on abort, on a refusal, or when it was given up. */
  stream(options: StreamOptions): AsyncIterable<StreamItem>;
  readiness(): Promise<Answer<Readiness>>;
  readonly effects: EffectsClient;
}

export function createClient(options: ClientOptions): Client {
  const base = new URL(options.url.endsWith('/') ? options.url : `${options.url}/`);
  if (base.protocol !== 'http:' && base.protocol !== 'https:')
    throw new TypeError(`${options.url} is not an http(s) address`);
  const send = options.fetch ?? fetch;
  const timeoutMs = options.timeoutMs ?? clientLimits.requestMs;
  const headers = {
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    ...(options.tenant === undefined ? {} : { 'headway-tenant': options.tenant }),
  };

  async function ask(path: string, query: Query, init: Init = {}): Promise<Answer<Response & { text: string }>> {
    try {
      const response = await send(address(base, path, query), {
        ...init,
        headers: { ...headers, ...init.headers },
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      });
      const text = await readBody(response);
      return ok({ status: response.status, ok: response.ok, date: response.headers.get('date'), text });
    } catch (error) {
      return refused({
        kind: 'unavailable',
        reason: `${base.origin} cannot be reached: ${reasonOf(error, timeoutMs)}`,
      });
    }
  }

  async function json<Value>(path: string, query: Query = {}, init: Init = {}): Promise<Answer<Value>> {
    const answer = await ask(path, query, { ...init, headers: { accept: 'application/json', ...init.headers } });
    if (!answer.ok) return answer;
    if (!answer.value.ok) return refused(failureOf(answer.value.status, answer.value.text));
    try {
      return ok(JSON.parse(answer.value.text) as Value);
    } catch {
      return refused(notHeadway(base));
    }
  }

  const post = (type: string, body: string): Promise<Answer<EventsAnswer>> =>
    json('v1/events', {}, { method: 'POST', headers: { 'content-type': type }, body });

  return {
    effects: effectsClient(json),
    report: (events) => post('application/cloudevents-batch+json', JSON.stringify(events)),
    reportLines: (ndjson) => post('application/x-ndjson', ndjson),
    works: (query = {}) => json('v1/works', { ...query }),
    work: (work, query = {}) => json(`v1/works/${encodeURIComponent(work)}`, { ...query }),
    timeline: (work, query = {}) => json(`v1/works/${encodeURIComponent(work)}/timeline`, { ...query }),
    signals: (query = {}) => json('v1/signals', { ...query }),
    signal: (signal, query = {}) => json(`v1/signals/${encodeURIComponent(signal)}`, { ...query }),
    reply: (signal, reply) =>
      json(
        `v1/signals/${encodeURIComponent(signal)}/replies`,
        {},
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(reply) },
      ),
    recover: (work, query = {}) => json(`v1/works/${encodeURIComponent(work)}/recover`, { ...query }),
    fleetReport: (query = {}) => json('v1/report', { ...query }),
    policies: (query = {}) => json('v1/policy', { ...query }),
    setPolicy: (change) =>
      json(
        'v1/policy',
        {},
        { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(change) },
      ),
    async brief(work, query = {}) {
      const answer = await ask(`v1/works/${encodeURIComponent(work)}/brief`, { ...query });
      if (!answer.ok) return answer;
      const { status, text } = answer.value;
      return answer.value.ok ? ok(text) : refused(failureOf(status, text));
    },
    async readiness() {
      const answer = await ask('readyz', {});
      if (!answer.ok) return answer;
      const { status, text, date } = answer.value;
      const body = parsed(text);
      if (status !== 200 && status !== 503) return refused(notHeadway(base));
      return ok({ ready: status === 200, body, date });
    },
    stream: (stream) =>
      readStream({
        ...stream,
        open: (lastEventId, signal) => {
          const resume = lastEventId === null ? {} : { 'last-event-id': lastEventId };
          return send(address(base, 'v1/stream', { work: stream.work, kind: stream.kind }), {
            headers: { ...headers, ...resume, accept: 'text/event-stream' },
            signal,
            redirect: 'error',
          });
        },
      }),
  };
}

interface Init {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
type Query = Readonly<Record<string, string | number | undefined>>;
interface Response {
  readonly status: number;
  readonly ok: boolean;
  readonly date: string | null;
}

function address(base: URL, path: string, query: Query): URL {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

async function readBody(response: globalThis.Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > clientLimits.answerBytes)
      throw new Error(`the answer is larger than ${clientLimits.answerBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

const notHeadway = (base: URL): Failure => ({
  kind: 'unavailable',
  reason: `what answers at ${base.origin} is not Headway: check HEADWAY_URL`,
});

/** The innermost reason: fetch hides it in `cause`. */
export function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs} ms`;
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code;
  return code === undefined || cause.message.includes(code)
    ? cause.message || code || error.message
    : `${code} ${cause.message}`.trim();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
