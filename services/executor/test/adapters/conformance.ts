import type { Adapter, AdapterRequest, Attempt } from '@headway/effects';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/** An adapter beside a stand-in for its target that counts effects and can fail on demand. */
export interface AdapterRig {
  readonly adapter: Adapter<unknown>;
  /** A request that no other one of this rig equals. */
  fresh(): AdapterRequest;
  /** How often the effect of a request was taken by the target, as its own books say. */
  effects(request: AdapterRequest): Promise<number>;
  /** What `prepare` has to refuse, and the member that its problem has to name. */
  readonly malformed: readonly { readonly request: AdapterRequest; readonly pointer: string }[];
  /** What can go wrong at this target; each holds until `heal`. Leave out only what such a target cannot do. */
  readonly faults: Partial<Record<AdapterFault, () => Promise<void> | void>>;
  heal(): Promise<void> | void;
  stop(): Promise<void>;
}

export type AdapterFault =
  /** Nothing listens there. */
  | 'unreachable'
  /** The effect is taken, and the answer never arrives whole. */
  | 'answer-lost'
  /** The request is read and never answered, nor taken. */
  | 'silent'
  /** A complete refusal that the table of errors calls definitive. */
  | 'refuses'
  /** A look at the target cannot be answered. */
  | 'observer-down';

let attempts = 0;

function attemptOf(rig: AdapterRig, request: AdapterRequest, more: Partial<Attempt<unknown>> = {}): Attempt<unknown> {
  const prepared = rig.adapter.prepare(request);
  if (!prepared.ok) throw new Error(prepared.failure.detail);
  attempts += 1;
  return {
    operation: attempts.toString(16).padStart(64, '0'),
    tenant: 'default',
    plan: prepared.value.plan,
    epoch: 1,
    attempt: 1,
    signal: AbortSignal.timeout(rig.adapter.timeoutMs),
    ...more,
  };
}

/** What a kind of target is like, told before it is there: it decides which of the demands below exist for it. */
export interface AdapterTraits {
  readonly class: Adapter<unknown>['class'];
  /** What cannot go wrong at such a target. */
  readonly never?: readonly AdapterFault[];
  /** Nobody can look whether an effect is there. */
  readonly unobservable?: true;
}

/** What every adapter must do, by its class (design 4.3). */
export function describeAdapter(name: string, traits: AdapterTraits, start: () => Promise<AdapterRig>): void {
  const { never = [], unobservable = false } = traits;
  const repeatSafe = traits.class === 'K' || traits.class === 'C';
  describe(`${name}, as every adapter`, () => {
    let rig: AdapterRig;
    beforeAll(async () => {
      rig = await start();
    });
    beforeEach(() => rig.heal());
    afterAll(async () => {
      await rig.adapter.close();
      await rig.stop();
    });
    /** A demand on a target at which this can go wrong. */
    const itWhere = (kind: AdapterFault, demand: string, test: (cause: () => Promise<void>) => Promise<void>) => {
      if (never.includes(kind)) return;
      it(demand, () =>
        test(async () => {
          const cause = rig.faults[kind];
          if (cause === undefined) throw new Error(`the rig cannot make its target ${kind}`);
          await cause();
        }),
      );
    };

    it('declares its class and bounds', async () => {
      expect(rig.adapter.class).toBe(traits.class);
      expect(never.filter((kind) => rig.faults[kind] !== undefined)).toEqual([]);
      const look = await rig.adapter.observe(attemptOf(rig, rig.fresh()));
      expect(look.observed === 'unobservable').toBe(unobservable);
      expect(rig.adapter.timeoutMs).toBeGreaterThan(0);
      expect(rig.adapter.processingMs).toBeGreaterThanOrEqual(0);
      expect(rig.adapter.retentionMs !== null).toBe(rig.adapter.class === 'K');
    });

    it('prepares equal plans from equal requests, as JSON keeps them', () => {
      const request = rig.fresh();
      const again = JSON.parse(JSON.stringify(request)) as AdapterRequest;
      expect(rig.adapter.prepare(again)).toEqual(rig.adapter.prepare(request));
    });

    it('refuses malformed requests and names the member', () => {
      for (const { request, pointer } of rig.malformed) {
        const prepared = rig.adapter.prepare(request);
        expect(prepared.ok ? 'prepared' : prepared.failure.pointer).toBe(pointer);
      }
    });

    it('has one effect with a result that JSON keeps', async () => {
      const request = rig.fresh();
      const answer = await rig.adapter.send(attemptOf(rig, request));
      expect(answer).toMatchObject({ answer: 'succeeded' });
      expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
      expect(await rig.effects(request)).toBe(1);
    });

    it('finds its effect, and changes nothing by looking', async () => {
      const request = rig.fresh();
      const attempt = attemptOf(rig, request);
      const before = await rig.adapter.observe(attempt);
      expect(['absent', 'unobservable']).toContain(before.observed);
      expect(await rig.effects(request)).toBe(0);
      const sent = await rig.adapter.send(attempt);
      const after = await rig.adapter.observe(attempt);
      expect(await rig.effects(request)).toBe(1);
      if (before.observed === 'unobservable') expect(after.observed).toBe('unobservable');
      else if (sent.answer === 'succeeded') expect(after).toEqual({ observed: 'present', result: sent.result });
    });

    itWhere(
      'answer-lost',
      'is uncertain when the answer is lost; then the effect is there once',
      async (loseAnswer) => {
        const request = rig.fresh();
        const attempt = attemptOf(rig, request);
        await loseAnswer();
        expect((await rig.adapter.send(attempt)).answer).toBe('uncertain');
        await rig.heal();
        expect(await rig.effects(request)).toBe(1);
        expect(['present', 'unobservable']).toContain((await rig.adapter.observe(attempt)).observed);
      },
    );

    const itWhereRepeatIsSafe = repeatSafe ? it : () => {};
    itWhereRepeatIsSafe('repeats without a second effect in classes K and C', async () => {
      const request = rig.fresh();
      const attempt = attemptOf(rig, request);
      await rig.faults['answer-lost']?.();
      await rig.adapter.send(attempt);
      await rig.heal();
      // The first one may have used up its time.
      const signal = AbortSignal.timeout(rig.adapter.timeoutMs);
      const again = await rig.adapter.send({ ...attempt, epoch: 2, attempt: 2, signal });
      if (rig.adapter.class === 'K') expect(again.answer).toBe('succeeded');
      expect(await rig.effects(request)).toBe(1);
    });

    itWhereRepeatIsSafe('has one effect of two attempts at once in classes K and C', async () => {
      const request = rig.fresh();
      const attempt = attemptOf(rig, request);
      await Promise.all([rig.adapter.send(attempt), rig.adapter.send({ ...attempt, epoch: 2, attempt: 2 })]);
      expect(await rig.effects(request)).toBe(1);
    });

    itWhere('unreachable', 'says that nothing was sent where nothing listens', async (goAway) => {
      await goAway();
      const request = rig.fresh();
      expect((await rig.adapter.send(attemptOf(rig, request))).answer).toBe('not-sent');
      await rig.heal();
      expect(await rig.effects(request)).toBe(0);
    });

    itWhere('refuses', 'passes a definitive refusal on', async (refuse) => {
      await refuse();
      const request = rig.fresh();
      expect((await rig.adapter.send(attemptOf(rig, request))).answer).toBe('refused');
      await rig.heal();
      expect(await rig.effects(request)).toBe(0);
    });

    itWhere('silent', 'ends with its time, uncertain', async (fallSilent) => {
      const request = rig.fresh();
      await fallSilent();
      const signal = AbortSignal.timeout(300);
      expect((await rig.adapter.send(attemptOf(rig, request, { signal }))).answer).toBe('uncertain');
    });

    itWhere('observer-down', 'takes an incomplete look for unknown', async (hideTarget) => {
      const attempt = attemptOf(rig, rig.fresh());
      await hideTarget();
      expect((await rig.adapter.observe(attempt)).observed).toBe('unknown');
    });
  });
}
