import { createHmac } from 'node:crypto';
import type { lookup as systemLookup } from 'node:dns';
import { type Adapter, answerOfBroken, meaningOfStatus, type SendAnswer } from '@headway/effects';
import { ok, refused } from '@headway/kernel';
import { z } from 'zod';
import type { WebhookTargets } from '../targets.ts';
import { addressRanges } from './outgoing/addresses.ts';
import { sendOnce } from './outgoing/outgoing.ts';
import { readInputs } from './read-inputs.ts';

const inputsSchema = z.strictObject({
  /** What the receiver is told has happened, such as `finding.published`. */
  type: z
    .string()
    .regex(/^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/)
    .max(128),
  data: z.json(),
});

export interface WebhookPlan {
  readonly hook: string;
  readonly body: string;
}

export interface WebhookAdapterOptions {
  readonly lookup?: typeof systemLookup;
  /** Whole seconds since 1970, for the signature's time. */
  readonly nowSeconds?: () => number;
}

/**
 * `webhook`, class N: one signed POST to a receiver that offers neither a key nor a look. The target is the name of a hook in
 * the targets file; address and secret are never in a request. Once a byte was written, all but a complete success or refusal
 * stays uncertain until a person says what became of it.
 *
 * Signed as Standard Webhooks says: HMAC-SHA256 over `<id>.<timestamp>.<body>`. The id is the operation's, so a receiver that
 * remembers ids can tell a repeat that a person authorised.
 */
export function createWebhookAdapter(
  targets: WebhookTargets,
  { lookup, nowSeconds = () => Math.floor(Date.now() / 1_000) }: WebhookAdapterOptions = {},
): Adapter<WebhookPlan> {
  const hooks = new Map(
    targets.hooks.map((hook) => [hook.name, { ...hook, allowed: addressRanges(hook.privateAddresses) }]),
  );
  return {
    kind: 'webhook',
    class: 'N',
    timeoutMs: targets.timeoutMs,
    processingMs: 0,
    retentionMs: null,
    prepare({ target, inputs }) {
      if (!hooks.has(target))
        return refused({
          detail: 'The target has to be the name of a hook in the targets file, which an operator writes.',
          pointer: '/target',
        });
      const read = readInputs(inputsSchema, inputs);
      if (!read.ok) return read;
      const { type, data } = read.value;
      return ok({ plan: { hook: target, body: JSON.stringify({ type, data }) }, resource: null });
    },
    async send({ operation, plan, signal }) {
      const hook = hooks.get(plan.hook);
      if (hook === undefined) return { answer: 'not-sent', reason: `the hook ${plan.hook} is not listed any more` };
      const timestamp = String(nowSeconds());
      const answer = await sendOnce({
        url: new URL(hook.url),
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': operation,
          'webhook-timestamp': timestamp,
          'webhook-signature': signatureOf(hook.secret, `${operation}.${timestamp}.${plan.body}`),
        },
        body: plan.body,
        allowed: hook.allowed,
        signal,
        ...(lookup === undefined ? {} : { lookup }),
      });
      if (answer.came === 'broken') return answerOfBroken(answer.at, answer.reason);
      return answerOfStatus(answer.status);
    },
    observe: async () => ({ observed: 'unobservable' }),
    close: async () => {},
  };
}

const SECRET_PREFIX = 'whsec_';

function signatureOf(secret: string, signed: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

/** The receiver's words are not kept: nobody reads them, and they may repeat what is secret. */
function answerOfStatus(status: number): SendAnswer {
  const meaning = meaningOfStatus(status, { limitsBeforeExecution: false });
  if (meaning === 'success') return { answer: 'succeeded', result: { status } };
  return { answer: meaning, reason: `the receiver answered ${status}` };
}
