import type { EffectHistory, EffectState, EffectView } from '@headway/contracts';
import type { Answer } from './answer.ts';

/** What is asked for: the shape of `effectRequestSchema`, defaults left to the server. */
export interface EffectAsked {
  readonly kind: string;
  readonly target: string;
  readonly key: string;
  readonly generation?: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly authority?: string;
  readonly planRevision?: string;
  readonly by?: string;
}

export interface EffectPage {
  readonly items: readonly EffectView[];
  readonly next: string | null;
}

export interface EffectResolution {
  readonly to: 'SUCCEEDED' | 'RETRY_AUTHORISED' | 'ABANDONED';
  readonly by: string;
  readonly reason: string;
  readonly result?: unknown;
}

/** Calls of `/v1/effects`. Asking again is safe: an operation is known by tenant, kind, target, key and generation. */
export interface EffectsClient {
  request(asked: EffectAsked, waitSeconds?: number): Promise<Answer<EffectView>>;
  list(query?: {
    readonly state?: EffectState | undefined;
    readonly kind?: string | undefined;
    readonly cursor?: string | undefined;
    readonly limit?: number | undefined;
  }): Promise<Answer<EffectPage>>;
  show(operation: string): Promise<Answer<EffectView>>;
  history(operation: string): Promise<Answer<EffectHistory>>;
  reconcile(operation: string): Promise<Answer<{ readonly outcome: string; readonly effect: EffectView }>>;
  resolve(operation: string, resolution: EffectResolution): Promise<Answer<EffectView>>;
}

type Ask = <Value>(
  path: string,
  query?: Readonly<Record<string, string | number | undefined>>,
  init?: { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string },
) => Promise<Answer<Value>>;

export function effectsClient(ask: Ask): EffectsClient {
  const post = <Value>(path: string, body: unknown, query = {}) =>
    ask<Value>(path, query, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const one = (operation: string) => `v1/effects/${encodeURIComponent(operation)}`;
  return {
    request: (asked, waitSeconds) => post('v1/effects', asked, { wait: waitSeconds }),
    list: (query = {}) => ask('v1/effects', { ...query }),
    show: (operation) => ask(one(operation)),
    history: (operation) => ask(`${one(operation)}/history`),
    reconcile: (operation) => post(`${one(operation)}/reconcile`, {}),
    resolve: (operation, resolution) => post(`${one(operation)}/resolve`, resolution),
  };
}
