import { defaultPolicy, type SignalEvent } from '@headway/contracts';
import {
  acknowledgementsOf,
  createClassification,
  type Fact,
  initialSignals,
  initialState,
  judgeEvidence,
  signal,
  type WorkLine,
  type WorkState,
} from '../../src/index.ts';
import type { Move } from './histories.ts';
import { aboutGate, aboutWork, Reference, type SignalName, type Told } from './reference.ts';

type Line = Omit<WorkLine, 'work' | 'class' | 'rule'> & { readonly class: string; readonly rule: string };

/** What both sides say after an event. */
export interface Picture {
  readonly works: Record<string, Line>;
  readonly shared: readonly string[];
  readonly counts: unknown;
}
export interface Difference {
  readonly after: number;
  readonly events: readonly unknown[];
  readonly fold: Picture;
  readonly reference: Picture;
}

/** The ids of the signals as the product raised them, with the names under which the reference knows them. */
class Ids {
  readonly raised: { id: string; name: SignalName }[] = [];
  readonly #works = new Map<string, WorkState>();
  #signals = initialSignals();
  readonly #seen = new Set<string>();

  take(event: Told): void {
    const key = `${event.source} ${event.id}`;
    const taken = this.#seen.has(key);
    this.#seen.add(key);
    const refused = { ...event, type: 'headway.evidence.refused', data: { reason: 'conflict' } };
    if (event.type === 'headway.monitor.ticked') for (const work of [...this.#works.keys()]) this.#judge(work, event);
    else if (event.subject !== undefined) this.#judge(event.subject, taken ? refused : event);
  }

  #judge(work: string, fact: unknown): void {
    const { state, events } = judgeEvidence(
      this.#works.get(work) ?? initialState(),
      fact as Fact,
      { tenant: 'default', work },
      () => defaultPolicy,
    );
    this.#works.set(work, state);
    for (const event of events) {
      const step = signal(this.#signals, event, 'default');
      this.#signals = step.state;
      for (const one of step.events) this.#note(one);
      for (const answered of acknowledgementsOf(step.events)) this.#judge(answered.work, answered.fact);
    }
  }

  #note(event: SignalEvent): void {
    if (event.type !== 'headway.signal.raised') return;
    const { kind, gate, works, incarnation, ordinal } = event.data;
    const about = kind === 'shared-failure' ? aboutGate(gate ?? '') : aboutWork(works[0] ?? '', incarnation ?? 0);
    const earlier = this.raised.filter(({ name }) => name.about === about).length;
    const name = { about, ordinal: kind === 'shared-failure' ? earlier + 1 : ordinal };
    this.raised.push({ id: event.data.signal, name });
  }
}

const statuses = ['open', 'acknowledged', 'withdrawn', 'superseded'] as const;

function pictureOf(reference: Reference): Picture {
  const works: Record<string, Line> = {};
  for (const [name, { incarnation, signals, steps }] of reference.works) {
    const { class: kind, rule } = reference.judgement(name);
    works[name] = {
      incarnation,
      class: kind,
      rule,
      signal: signals.at(-1)?.status ?? null,
      signals: signals.length,
      acknowledged: signals.filter(({ status }) => status === 'acknowledged').length,
      withdrawn: signals.filter(({ status }) => status === 'withdrawn').length,
      done: steps.some((step) => step.kind === 'done'),
    };
  }
  const open = reference.groups.filter(({ status }) => status === 'open');
  const shared = open.map((group) => `${group.gate}: ${reference.membersOf(group).toSorted().join(' ')}`).toSorted();
  const all = [...[...reference.works.values()].flatMap(({ signals }) => signals), ...reference.groups];
  const count = (wanted: string) => all.filter(({ status }) => status === wanted).length;
  return {
    works,
    shared,
    counts: { signals: all.length, ...Object.fromEntries(statuses.map((status) => [status, count(status)])) },
  };
}

/** Tells a history to both sides; the first difference, or nothing. */
export function firstDifference(moves: readonly Move[], see: (picture: Picture) => void = () => {}): Difference | null {
  const product = createClassification();
  const ids = new Ids();
  const reference = new Reference();
  const events: Told[] = [];
  for (const [after, move] of moves.entries()) {
    const [real, named] = 'event' in move ? [move.event, move.event] : replies(move.reply, after, ids);
    if (real === null) continue;
    events.push(real);
    const pushed = product.push({ specversion: '1.0', ...real });
    if (pushed.kind === 'malformed') throw new Error(JSON.stringify([pushed.problem, real]));
    if (pushed.kind !== 'duplicate') ids.take(real);
    reference.tell(named);
    const picture = pictureOf(reference);
    const works = Object.fromEntries(
      Object.keys(picture.works).map((name) => {
        const { work: _, ...line } = product.line(name);
        return [name, line];
      }),
    );
    const { events: _, signals, open, acknowledged, withdrawn, superseded } = product.summary().summary;
    const shared = product.shared().map(({ shared: one }) => `${one.gate}: ${one.works.join(' ')}`);
    const fold = { works, shared: shared.toSorted(), counts: { signals, open, acknowledged, withdrawn, superseded } };
    see(picture);
    if (canonical(fold) !== canonical(picture)) return { after, events, fold, reference: picture };
  }
  return null;
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted())
      : inner,
  );

function replies(reply: Extract<Move, { reply: unknown }>['reply'], at: number, ids: Ids): [Told, Told] | [null, null] {
  const signalled = ids.raised.at(-1 - reply.back);
  if (signalled === undefined) return [null, null];
  const told = (id: unknown): Told => ({
    type: 'headway.signal.sent',
    source: 'r',
    id: `${at}`,
    subject: reply.subject,
    data: {
      signal: `r${at}`,
      thread: reply.elsewhere ? 'elsewhere' : id,
      inReplyTo: id,
      intent: reply.intent,
      from: reply.from,
      to: ['lead'],
      text: '',
    },
  });
  return [told(signalled.id), told(signalled.name)];
}
