import type { lookup as systemLookup } from 'node:dns';
import { type Adapter, answerOfBroken, meaningOfStatus, type SendAnswer } from '@headway/effects';
import { ok, refused } from '@headway/kernel';
import { z } from 'zod';
import type { HttpTargets } from '../targets.ts';
import { addressRanges } from './outgoing/addresses.ts';
import { type OutgoingAnswer, sendOnce } from './outgoing/outgoing.ts';
import { readInputs } from './read-inputs.ts';

/** Headers that this side alone writes. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const inputsSchema = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  headers: z
    .record(z.string().regex(/^[a-z0-9-]{1,64}$/), z.string().regex(/^[\x20-\x7e]{0,4096}$/))
    .refine((headers) => Object.keys(headers).length <= 32, 'more than 32 headers')
    .refine(
      (headers) => !Object.keys(headers).some((name) => OWN_HEADERS.has(name)),
      'a header that only Headway writes',
    )
    .default({}),
  /** The body as JSON, or as text; not both. */
  json: z.json().optional(),
  text: z.string().optional(),
  /** What the effect is exclusive on; else the address where it replaces, changes or removes what is there. */
  resource: z.string().min(1).max(1_024).optional(),
});

export interface HttpPlan {
  readonly url: string;
  readonly origin: string;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface HttpAdapterOptions {
  readonly lookup?: typeof systemLookup;
}

/**
 * `http`, class K: one request to an allowed origin with the operation's id as its idempotency key. There is no way to look
 * for the effect but asking once more with the same key, which the target answers as it answered before.
 */
export function createHttpAdapter(targets: HttpTargets, { lookup }: HttpAdapterOptions = {}): Adapter<HttpPlan> {
  const origins = new Map(
    targets.origins.map((target) => [target.origin, { ...target, allowed: addressRanges(target.privateAddresses) }]),
  );
  return {
    kind: 'http',
    class: 'K',
    timeoutMs: targets.timeoutMs,
    processingMs: targets.processingSeconds * 1_000,
    retentionMs: targets.keyRetentionSeconds * 1_000,
    prepare({ target, inputs }) {
      const url = URL.parse(target);
      if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password + url.hash !== '')
        return refused({
          detail: 'The target has to be an http(s) address without user, password and fragment.',
          pointer: '/target',
        });
      if (!origins.has(url.origin))
        return refused({
          detail: `Effects may not be sent to ${url.origin}. An operator lists origins in the targets file.`,
          pointer: '/target',
        });
      const read = readInputs(inputsSchema, inputs);
      if (!read.ok) return read;
      const { method, headers, json, text, resource } = read.value;
      if (json !== undefined && text !== undefined)
        return refused({ detail: 'Give the body as `json` or as `text`, not as both.', pointer: '/inputs/text' });
      if (headers[targets.keyHeader] !== undefined)
        return refused({ detail: `Only Headway writes the header ${targets.keyHeader}.`, pointer: '/inputs/headers' });
      const plan = {
        url: url.href,
        origin: url.origin,
        method,
        headers: json === undefined ? headers : { 'content-type': 'application/json', ...headers },
        body: json === undefined ? (text ?? null) : JSON.stringify(json),
      };
      return ok({ plan, resource: resource ?? (method === 'POST' ? null : url.href.slice(0, 1_024)) });
    },
    async send({ operation, plan, signal }) {
      const target = origins.get(plan.origin);
      if (target === undefined) return { answer: 'not-sent', reason: `${plan.origin} is not allowed any more` };
      const answer = await sendOnce({
        url: new URL(plan.url),
        method: plan.method,
        headers: { ...plan.headers, ...target.headers, [targets.keyHeader]: operation },
        body: plan.body,
        allowed: target.allowed,
        signal,
        ...(lookup === undefined ? {} : { lookup }),
      });
      return answerOf(answer, target.limitsBeforeExecution);
    },
    observe: async () => ({ observed: 'unobservable' }),
    close: async () => {},
  };
}

function answerOf(came: OutgoingAnswer, limitsBeforeExecution: boolean): SendAnswer {
  if (came.came === 'broken') return answerOfBroken(came.at, came.reason);
  const { status, headers, body } = came;
  const meaning = meaningOfStatus(status, { limitsBeforeExecution });
  if (meaning === 'refused') return { answer: 'refused', reason: `the target answered ${status}` };
  if (meaning === 'uncertain') return { answer: 'uncertain', reason: `the target answered ${status}` };
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    return { answer: 'uncertain', reason: 'the answer came in an encoding that was not asked for' };
  const content = contentOf(body, String(headers['content-type'] ?? ''));
  if (content === undefined) return { answer: 'uncertain', reason: 'the body of the answer cannot be read' };
  const one = (name: string) => (typeof headers[name] === 'string' ? headers[name] : null);
  return { answer: 'succeeded', result: { status, location: one('location'), etag: one('etag'), body: content } };
}

/** JSON parsed, other text as it is, `null` for none; `undefined` = it is not what it says it is. */
function contentOf(body: Buffer, type: string): unknown {
  if (body.byteLength === 0) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return /^application\/([\w.-]+\+)?json\b/i.test(type) ? JSON.parse(text) : text;
  } catch {
    return undefined;
  }
}
