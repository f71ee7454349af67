import { defaultPolicy, type SignalEvent, type TrajectoryEvent } from '@headway/contracts';
import { describe, expect, test } from 'vitest';
import {
  acknowledgementsOf,
  ENDED_GROUPS,
  type Fact,
  initialSignals,
  initialState,
  judgeEvidence,
  type SignalsState,
  signal,
  type WorkState,
} from '../src/index.ts';
import {
  blocked,
  checkpoint,
  claimed,
  conflicting,
  done,
  errored,
  failed,
  passed,
  replied,
  ticked,
  unblocked,
} from './facts.ts';

/** A tenant whose acknowledgements come back at once, or only when asked. Every state goes through JSON. */
class Tenant {
  readonly events: SignalEvent[] = [];
  readonly recorded: TrajectoryEvent[] = [];
  signals: SignalsState = initialSignals();
  readonly #works = new Map<string, WorkState>();
  readonly #pending: { work: string; fact: Fact }[] = [];
  readonly #atOnce: boolean;

  constructor(atOnce = true) {
    this.#atOnce = atOnce;
  }

  tell(work: string, ...facts: Fact[]): this {
    for (const fact of facts) {
      const state = this.#works.get(work) ?? initialState();
      const judged = judgeEvidence(state, fact, { tenant: 'T', work }, () => defaultPolicy);
      this.#works.set(work, JSON.parse(JSON.stringify(judged.state)));
      this.recorded.push(...judged.events);
      for (const event of judged.events) {
        const step = signal(this.signals, event, 'T');
        this.signals = JSON.parse(JSON.stringify(step.state));
        this.events.push(...step.events);
        this.#pending.push(...acknowledgementsOf(step.events));
      }
      if (this.#atOnce) this.feedBack();
    }
    return this;
  }

  feedBack(): this {
    for (const { work, fact } of this.#pending.splice(0)) this.tell(work, fact);
    return this;
  }

  /** What happened to signals, in order: `raised stagnating`, `withdrawn thrashing` … */
  get story(): string[] {
    return this.events.map(({ type, data }) => {
      const name = type.replace('headway.signal.', '').replace('headway.reply.', '');
      return 'kind' in data ? `${name} ${data.kind}` : 'work' in data ? `${name} ${data.work}` : name;
    });
  }

  newest(kind: string): string {
    for (const { type, data } of this.events.toReversed())
      if (type === 'headway.signal.raised' && data.kind === kind) return data.signal;
    throw new Error(`no ${kind} was raised`);
  }
}

const stuck = (diff = 'A', key = 't1') => [failed(key, diff), failed(key, diff), failed(key, diff)];
const fight = () => [failed('x', 'P'), failed('y', 'Q'), failed('x', 'P'), failed('y', 'Q')];

describe('a work’s own signal', () => {
  test('is raised once, however often the evidence repeats, to the orchestrator and the worker', () => {
    const tenant = new Tenant().tell('W', claimed(), ...stuck(), ...stuck(), ...stuck());
    expect(tenant.story).toEqual(['raised stagnating']);
    expect(tenant.events[0]?.data).toMatchObject({
      to: ['lead', 'worker'],
      works: ['W'],
      ordinal: 1,
      rule: 'same-failure',
      count: 3,
    });
  });
  test('stays where another gate decides for the same class, and while the class is unknown', () => {
    const lint = { gate: 'lint' };
    const tenant = new Tenant().tell('W', claimed(), failed('t1', 'A'), failed('t1', 'A'));
    tenant.tell('W', failed('l1', 'A', lint), failed('l1', 'A', lint), failed('l1', 'A', lint), failed('t1', 'A'));
    expect(tenant.recorded.at(-1)?.data).toMatchObject({ class: 'stagnating', gate: 'test' });
    expect(tenant.story).toEqual(['raised stagnating']);
    tenant.tell('W', conflicting());
    expect(tenant.recorded.at(-1)?.data).toMatchObject({ class: 'unknown' });
    expect(tenant.story).toEqual(['raised stagnating']);
  });
  test('another class takes its place at once', () => {
    const tenant = new Tenant().tell('W', claimed({ gateAttempts: 1 }), ...stuck());
    tenant.tell('W', failed('t2', 'B'));
    expect(tenant.story).toEqual(['raised stagnating', 'raised thrashing', 'superseded stagnating']);
    expect(tenant.events.at(-1)?.data).toMatchObject({ by: tenant.newest('thrashing') });
  });
  test('of a pause is raised at the second tick', () => {
    const tenant = new Tenant().tell('W', claimed(), ...fight(), passed('S', { stage: 'prep' }), ticked());
    expect(tenant.story).toEqual(['raised thrashing', 'withdrawn thrashing']);
    expect(tenant.tell('W', ticked()).story.at(-1)).toBe('raised awaiting-wake');
  });
  test.each([
    ['done', done()],
    ['blocked', blocked()],
    ['a new claim', claimed()],
    ['a pass', passed('B')],
  ])('is withdrawn by %s', (_name, fact) => {
    expect(new Tenant().tell('W', claimed(), ...stuck(), fact).story).toEqual([
      'raised stagnating',
      'withdrawn stagnating',
    ]);
  });
  test('comes again with another id after unblocking and fresh evidence', () => {
    const tenant = new Tenant().tell('W', claimed(), ...stuck(), blocked(), unblocked(), ...stuck().slice(1));
    expect(tenant.story).toEqual(['raised stagnating', 'withdrawn stagnating']);
    const first = tenant.newest('stagnating');
    tenant.tell('W', failed('t1', 'A'));
    expect(tenant.story.at(-1)).toBe('raised stagnating');
    expect(tenant.newest('stagnating')).not.toBe(first);
  });
  test('the same history gives the same ids', () => {
    const facts = [claimed(), ...stuck()];
    const ids = () => new Tenant().tell('W', ...facts).events.map(({ id }) => id);
    expect(ids()).toEqual(ids());
  });
});

describe('a reply', () => {
  test('acknowledges the open signal it names, and the next one needs fresh evidence', () => {
    const tenant = new Tenant().tell('W', claimed(), ...stuck());
    const id = tenant.newest('stagnating');
    tenant.tell('W', replied(id, 'worker'), ...stuck().slice(1));
    expect(tenant.story).toEqual(['raised stagnating', 'acknowledged stagnating']);
    tenant.tell('W', failed('t1', 'A'));
    expect(tenant.story.at(-1)).toBe('raised stagnating');
  });
  test('is declined from a stranger, for a signal that is closed, and for one that never was', () => {
    const tenant = new Tenant().tell('W', claimed(), ...stuck());
    const id = tenant.newest('stagnating');
    tenant.tell('W', replied(id, 'stranger'), replied('nothing', 'lead'));
    tenant.tell('W', replied(id, 'lead', 'REJECT'), replied(id, 'lead'));
    expect(tenant.story).toEqual([
      'raised stagnating',
      'declined W',
      'declined W',
      'acknowledged stagnating',
      'declined W',
    ]);
  });
  test('of another intent or on another thread is none', () => {
    const tenant = new Tenant().tell('W', claimed(), ...stuck());
    const id = tenant.newest('stagnating');
    tenant.tell(
      'W',
      replied(id, 'lead', 'INFORM'),
      replied(id, 'lead', 'AGREE', 'elsewhere'),
      replied(id, 'lead', 'agree'),
    );
    expect(tenant.story).toEqual(['raised stagnating']);
  });
  test('nothing is raised again before the fold has heard of the acknowledgement', () => {
    const tenant = new Tenant(false).tell('W', claimed(), ...stuck());
    tenant.tell('W', replied(tenant.newest('stagnating'), 'lead'), ...stuck());
    expect(tenant.story).toEqual(['raised stagnating', 'acknowledged stagnating']);
    tenant.feedBack().tell('W', ...stuck());
    expect(tenant.story).toEqual(['raised stagnating', 'acknowledged stagnating', 'raised stagnating']);
  });
});

describe('a shared failure', () => {
  const two = () => new Tenant().tell('A', claimed()).tell('B', claimed()).tell('C', claimed());
  const down = (diff = 'A') => failed('down', diff);

  test('takes the place of the members’ stagnating signals, and holds them back', () => {
    const tenant = two().tell('A', down(), down(), down()).tell('B', down(), down(), down());
    expect(tenant.story).toEqual(['raised stagnating', 'raised shared-failure', 'superseded stagnating']);
  });
  test('holds back no other class and no other failure', () => {
    const tenant = two().tell('A', down()).tell('B', down());
    tenant.tell('B', ...stuck('X', 'other'));
    expect(tenant.story).toEqual(['raised shared-failure', 'left B', 'withdrawn shared-failure', 'raised stagnating']);
    const thrashing = two()
      .tell('A', failed('y', 'Q'))
      .tell('B', ...fight());
    expect(thrashing.story).toContain('raised thrashing');
  });
  test('others join silently; errored attempts do not leave it; with one left it is withdrawn', () => {
    const tenant = two().tell('A', down()).tell('B', down()).tell('C', down()).tell('A', errored());
    expect(tenant.story).toEqual(['raised shared-failure', 'joined C']);
    tenant.tell('A', passed('Z'));
    expect(tenant.story.slice(2)).toEqual(['left A']);
    tenant.tell('B', blocked());
    expect(tenant.story.slice(3)).toEqual(['left B', 'withdrawn shared-failure']);
    const first = tenant.newest('shared-failure');
    tenant.tell('A', down());
    expect(tenant.newest('shared-failure')).not.toBe(first);
  });
  test('the work that is left raises what was held back', () => {
    const tenant = two().tell('A', down(), down(), down()).tell('B', down());
    tenant.tell('B', passed('Z'));
    expect(tenant.story).toEqual([
      'raised stagnating',
      'raised shared-failure',
      'superseded stagnating',
      'left B',
      'withdrawn shared-failure',
      'raised stagnating',
    ]);
  });
  test('any member’s recipient acknowledges it for all, and it comes again only after fewer than two were left', () => {
    const tenant = two().tell('A', down()).tell('B', down());
    const id = tenant.newest('shared-failure');
    tenant.tell('B', replied(id, 'lead'));
    expect(tenant.events.at(-1)?.data).toMatchObject({ works: ['A', 'B'], incarnations: [1, 1] });
    const story = ['raised shared-failure', 'acknowledged shared-failure'];
    tenant.tell('A', down(), down(), down()).tell('B', down(), down(), down()).tell('C', down());
    expect(tenant.story).toEqual([...story, 'joined C']);
    tenant.tell('A', passed('Z')).tell('B', passed('Z')).tell('A', down());
    expect(tenant.story).toEqual([...story, 'joined C', 'left A', 'left B', 'raised shared-failure']);
  });
  test('a new incarnation ends the membership', () => {
    const tenant = two().tell('A', down()).tell('B', down()).tell('B', claimed());
    expect(tenant.story).toEqual(['raised shared-failure', 'left B', 'withdrawn shared-failure']);
  });
  test('of a thousand works nothing is kept once they are done', () => {
    const tenant = new Tenant();
    for (let at = 0; at < 50; at += 1) tenant.tell(`W${at}`, claimed(), ...stuck('A', `t${at}`), passed('B'), done());
    expect(tenant.signals.works).toEqual({});
    expect(tenant.signals.open).toEqual({});
  });
  test('of many failures that are over only the newest are remembered, and none comes again under an id it had', () => {
    const tenant = new Tenant();
    const over = (at: number) => {
      const work = (name: string) => `${name}${at}`;
      for (const name of ['A', 'B']) tenant.tell(work(name), claimed(), failed(`t${at}`, name));
      for (const name of ['A', 'B']) tenant.tell(work(name), passed('Z'), done());
    };
    for (let at = 0; at < ENDED_GROUPS + 20; at += 1) over(at);
    const kept = Object.values(tenant.signals.groups).flatMap((bucket) => Object.keys(bucket));
    expect(kept).toHaveLength(ENDED_GROUPS);
    expect(tenant.signals.ended).toHaveLength(ENDED_GROUPS);
    for (const name of ['C', 'D']) tenant.tell(name, claimed(), failed('t0', name));
    const ids = tenant.events.flatMap(({ type, data }) => (type === 'headway.signal.raised' ? [data.signal] : []));
    expect(ids).toHaveLength(ENDED_GROUPS + 21);
    expect(new Set(ids).size).toBe(ids.length);
  });
  test('that comes again is no ended one any more, and the newest ended is forgotten last', () => {
    const tenant = new Tenant();
    for (const name of ['A', 'B']) tenant.tell(name, claimed(), failed('t1', name));
    for (const name of ['A', 'B']) tenant.tell(name, passed('Z'));
    expect(tenant.signals.ended).toHaveLength(1);
    tenant.tell('A', failed('t1', 'Y'));
    expect(tenant.signals.ended).toEqual([]);
  });
});

describe('what is recorded', () => {
  test('an assessment wherever a member changes, nothing where none does', () => {
    const tenant = new Tenant().tell('W', claimed(), failed('t1', 'A'));
    const before = tenant.recorded.length;
    tenant.tell('W', checkpoint('harness'), ticked(), checkpoint('harness'));
    expect(tenant.recorded).toHaveLength(before);
    tenant.tell('W', blocked());
    expect(tenant.recorded).toHaveLength(before + 1);
  });
  test('hostile ids of works are only ids', () => {
    const tenant = new Tenant();
    for (const work of ['__proto__', 'constructor', 'toString']) tenant.tell(work, claimed(), failed('t1', 'A'));
    expect(tenant.story).toEqual(['raised shared-failure', 'joined toString']);
    expect(({} as Record<string, unknown>).incarnation).toBeUndefined();
  });
});
