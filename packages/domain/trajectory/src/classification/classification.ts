import {
  type Assessment,
  defaultPolicy,
  type EvidenceEvent,
  type EvidenceRefused,
  type Policy,
  type Problem,
  type TrajectoryEvent,
} from '@headway/contracts';
import { canonicalJson } from '@headway/kernel';
import { assess } from '../assess.ts';
import type { Fact } from '../evolve.ts';
import { initialState } from '../initial-state.ts';
import { judgeEvidence } from '../judge.ts';
import { awaitsTick } from '../rules/waiting.ts';
import { acknowledgementsOf, signal } from '../signaller/signal.ts';
import { initialSignals, type SignalsState } from '../signaller/state.ts';
import { valuesOf } from '../signaller/table.ts';
import type { WorkState } from '../state.ts';
import { IdentityMemory } from './identity-memory.ts';
import type { SharedLine, SummaryLine, WorkLine } from './lines.ts';
import { type LoggedEvent, readLogged, withDefaults, withFailures, withFirstSignal } from './raw-events.ts';
import { SignalCounts } from './signal-counts.ts';

/** What became of a pushed event. `works` are those whose fold took it. */
export type Pushed =
  | { readonly kind: 'accepted'; readonly works: readonly string[] }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'conflict'; readonly works: readonly string[] }
  | { readonly kind: 'malformed'; readonly problem: Problem };

export interface ClassificationOptions {
  readonly policy?: Policy;
  /** Part of the ids of signals. */
  readonly tenant?: string;
  /** Identities that are remembered at least, to tell duplicates and conflicts. */
  readonly identities?: number;
}

/**
 * Classifies a log without any server: the same folds and the same signaller as the running services, with every
 * acknowledgement fed back at once. Memory grows with the number of works, never with the number of events.
 */
export class Classification {
  readonly #policy: Policy;
  readonly #tenant: string;
  readonly #identities: IdentityMemory;
  readonly #works = new Map<string, { state: WorkState; assessment: Assessment }>();
  /** Works that a tick may change. */
  readonly #paused = new Set<string>();
  readonly #counts = new SignalCounts();
  #signals: SignalsState = initialSignals();
  #position = 0;
  #events = 0;

  constructor(options: ClassificationOptions = {}) {
    this.#policy = options.policy ?? defaultPolicy;
    this.#tenant = options.tenant ?? 'default';
    this.#identities = new IdentityMemory(options.identities);
  }

  /** Takes the next event of the log, any JSON value; with `defaults`, the members that case files leave out are filled in. */
  push(raw: unknown, { defaults = false }: { defaults?: boolean } = {}): Pushed {
    this.#position += 1;
    const whole = withFirstSignal(defaults ? withDefaults(raw, this.#position) : raw, this.#counts.first);
    const read = readLogged(whole);
    if (!read.ok) return { kind: 'malformed', problem: read.failure };
    this.#events += 1;
    const event = read.value;
    const { type, subject, time, incarnation, data } = whole as Record<string, unknown>;
    const content = canonicalJson({ data, incarnation, subject, time, type });
    const taken = this.#identities.take(event.source, event.id, content);
    if (taken === 'duplicate') return { kind: 'duplicate' };
    if (taken === 'new') return { kind: 'accepted', works: this.#fold(withFailures(event)) };
    if (event.type === 'headway.monitor.ticked') return { kind: 'conflict', works: [] };
    return { kind: 'conflict', works: this.#fold(refusalOf(event)) };
  }

  /** The last assessment of a work; of one without evidence, that nothing is known. */
  assessment(work: string): Assessment {
    return this.#works.get(work)?.assessment ?? assess(initialState(), this.#policy);
  }

  /** The line of one work. */
  line(work: string): WorkLine {
    const { incarnation, class: name, rule, phase } = this.assessment(work);
    const done = phase === 'done' || phase === 'done-claimed';
    return { work, incarnation, class: name, rule, ...this.#counts.of(work), done };
  }

  /** One line for each work, in the order in which they were seen first. */
  works(): WorkLine[] {
    return [...this.#works.keys()].map((work) => this.line(work));
  }

  /** One line for each open shared failure. */
  shared(): SharedLine[] {
    return valuesOf(this.#signals.groups).flatMap(({ gate, signature, members, signal: raised, acknowledged }) =>
      raised === null || acknowledged ? [] : [{ shared: { gate, signature, works: members.toSorted() } }],
    );
  }

  summary(): SummaryLine {
    const { raised: signals, acknowledged, withdrawn, superseded } = this.#counts.all;
    return {
      summary: { events: this.#events, signals, open: this.#counts.open, acknowledged, withdrawn, superseded },
    };
  }

  #fold(event: LoggedEvent): string[] {
    const works = event.type === 'headway.monitor.ticked' ? [...this.#paused] : [event.subject];
    for (const work of works) this.#judge(work, event);
    return works;
  }

  #judge(work: string, fact: Fact): void {
    const known = this.#works.get(work);
    const context = { tenant: this.#tenant, work };
    const { state, events } = judgeEvidence(known?.state ?? initialState(), fact, context, () => this.#policy);
    const assessment = assessmentIn(events) ?? known?.assessment ?? assess(state, this.#policy);
    this.#works.set(work, { state, assessment });
    if (awaitsTick(state, this.#policy)) this.#paused.add(work);
    else this.#paused.delete(work);
    for (const event of events) this.#signal(event);
  }

  #signal(event: TrajectoryEvent): void {
    const { state, events } = signal(this.#signals, event, this.#tenant);
    this.#signals = state;
    for (const one of events) this.#counts.take(one);
    for (const { work, fact } of acknowledgementsOf(events)) this.#judge(work, fact);
  }
}

/** A pipeline over one tenant's log, empty at first. */
export const createClassification = (options: ClassificationOptions = {}): Classification =>
  new Classification(options);

function assessmentIn(events: readonly TrajectoryEvent[]): Assessment | undefined {
  for (const event of events) if (event.type === 'headway.work.assessed') return event.data;
  return undefined;
}

/** The fact that stands in the log for a report whose identity was taken by another content. */
function refusalOf(event: EvidenceEvent): EvidenceRefused {
  const { source, id, subject, type, incarnation } = event;
  return {
    specversion: '1.0',
    source: 'headway.ingest',
    id: `refused:${source}:${id}`,
    subject,
    ...(incarnation === undefined ? {} : { incarnation }),
    type: 'headway.evidence.refused',
    data: { reason: 'conflict', refused: { source, id, type }, standing: '', offered: '' },
  };
}
