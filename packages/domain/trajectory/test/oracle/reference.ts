import { countsFrom, type Step, stepOf, verdictsOf } from './history.ts';
import { isClosed, type Judgement, judgementOf } from './judgement.ts';
import { lastSubstantive } from './rules.ts';

/** An event of the log with the members that the reference looks at. */
export interface Told {
  readonly type: string;
  readonly source: string;
  readonly id: string;
  readonly subject?: string;
  readonly incarnation?: number;
  readonly data: any;
}
type Status = 'open' | 'acknowledged' | 'withdrawn' | 'superseded';
/** Names a signal without its id: what it is about, and the how manieth of that it is. */
export interface SignalName {
  readonly about: string;
  readonly ordinal: number;
}
interface Raised extends SignalName {
  readonly class: string;
  readonly gate: string | null;
  readonly signature: string | null;
  readonly incarnation: number;
  status: Status;
}
interface Work {
  incarnation: number;
  steps: Step[];
  blocked: boolean;
  worker: string | null;
  orchestrator: string | null;
  readonly signals: Raised[];
}
interface Group extends SignalName {
  readonly gate: string;
  readonly signature: string;
  status: Status;
  /** Fewer than two are left: it may come again. */
  over: boolean;
}

export const aboutWork = (work: string, incarnation: number): string => `${work} ${incarnation}`;
export const aboutGate = (gate: string): string => `gate ${gate}`;

/** The whole of one tenant: all works, their signals and the shared failures, recomputed after every event. */
export class Reference {
  readonly works = new Map<string, Work>();
  readonly groups: Group[] = [];
  readonly #identities = new Map<string, string>();

  tell(event: Told): void {
    const key = JSON.stringify([event.source, event.id]);
    const content = JSON.stringify([event.type, event.subject, event.incarnation, event.data]);
    const standing = this.#identities.get(key);
    if (standing === content) return;
    this.#identities.set(key, standing ?? content);
    if (event.type === 'headway.monitor.ticked') {
      for (const work of this.works.values()) work.steps.push({ kind: 'tick' });
    } else if (event.subject !== undefined) {
      this.#take(this.#work(event.subject), event, standing !== undefined);
    }
    this.#settle();
    if (event.type === 'headway.signal.sent') this.#settle();
  }

  judgement(name: string): Judgement {
    const work = this.#work(name);
    return judgementOf(work.steps, work.blocked);
  }

  #work(name: string): Work {
    let work = this.works.get(name);
    work ??= { incarnation: 0, steps: [], blocked: false, worker: null, orchestrator: null, signals: [] };
    this.works.set(name, work);
    return work;
  }

  #take(work: Work, event: Told, conflicting: boolean): void {
    const claims = event.type === 'headway.work.claimed' && !conflicting;
    const told = event.incarnation ?? work.incarnation + (claims ? 1 : 0);
    // A refused report opens nothing: it was never accepted.
    const incarnation = conflicting ? Math.min(told, work.incarnation) : told;
    // Evidence of an older incarnation is kept and changes nothing.
    if (incarnation < work.incarnation) return;
    if (incarnation > work.incarnation) {
      Object.assign(work, { incarnation, steps: [], worker: null, orchestrator: null });
      // It withdraws the older one's signal and ends its memberships, before it says anything itself.
      this.#settle();
    }
    if (conflicting) {
      work.steps.push({ kind: 'conflict' });
      return;
    }
    const step = stepOf(event);
    // Only a blocked work can be unblocked.
    if (step.kind === 'unblocked' && !work.blocked) return;
    work.steps.push(step);
    // Only `unblocked` unblocks: a block outlasts its incarnation.
    if (step.kind === 'blocked') work.blocked = true;
    if (step.kind === 'unblocked') work.blocked = false;
    if (claims) this.#claim(work, event.data);
    if (event.type === 'headway.signal.sent') this.#reply(event.data);
  }

  /** A claim after done contradicts it and changes nobody. */
  #claim(work: Work, { worker, orchestrator }: { worker: string; orchestrator?: string }): void {
    if (work.steps.some(({ kind }) => kind === 'done')) return;
    work.worker = worker;
    work.orchestrator = orchestrator ?? work.orchestrator;
  }

  /** Closes a signal by a reply on its thread that names it, from one of its recipients, with AGREE or REJECT. */
  #reply({ thread, inReplyTo, intent, from }: { thread: unknown; inReplyTo: unknown; intent: string; from: string }) {
    if (JSON.stringify(thread) !== JSON.stringify(inReplyTo) || !['AGREE', 'REJECT'].includes(intent)) return;
    const { about, ordinal } = inReplyTo as SignalName;
    const isNamed = (one: SignalName & { status: Status }) =>
      one.about === about && one.ordinal === ordinal && one.status === 'open';
    for (const work of this.works.values()) {
      const signal = work.signals.find(isNamed);
      if (signal === undefined || !isRecipient(work, from)) continue;
      signal.status = 'acknowledged';
      work.steps.push({ kind: 'acknowledged' });
    }
    const group = this.groups.find(isNamed);
    if (group === undefined || !this.#members(group).some((work) => isRecipient(work, from))) return;
    group.status = 'acknowledged';
    for (const work of this.#members(group)) work.steps.push({ kind: 'acknowledged' });
  }

  /** Active works whose newest verdict of the gate failed with that signature. */
  #members({ gate, signature }: { gate: string; signature: string }): Work[] {
    return [...this.works.values()].filter((work) => {
      const newest = verdictsOf(work.steps).findLast((one) => one.gate === gate);
      return !isClosed(work.steps, work.blocked) && newest?.signature === signature;
    });
  }

  membersOf(group: Group): string[] {
    const members = this.#members(group);
    return [...this.works].filter(([, work]) => members.includes(work)).map(([name]) => name);
  }

  #settle(): void {
    const failing = [...this.works.values()].flatMap((work) => verdictsOf(work.steps));
    for (const { gate, signature } of failing) {
      if (signature === null || this.#standing(gate, signature) !== undefined) continue;
      if (this.#members({ gate, signature }).length < 2) continue;
      const about = aboutGate(gate);
      const ordinal = this.groups.filter((one) => one.about === about).length + 1;
      this.groups.push({ gate, signature, about, ordinal, status: 'open', over: false });
    }
    for (const group of this.groups) {
      if (group.over || this.#members(group).length >= 2) continue;
      group.over = true;
      if (group.status === 'open') group.status = 'withdrawn';
    }
    for (const [name, work] of this.works) this.#settleWork(name, work);
  }

  #standing(gate: string, signature: string): Group | undefined {
    return this.groups.find((one) => !one.over && one.gate === gate && one.signature === signature);
  }

  /** The shared failure that holds back a stagnating signal of its gate and signature, answered or not. */
  #holding(about: { class: string; gate: string | null; signature: string | null }): Group | undefined {
    const { gate, signature } = about;
    if (about.class !== 'stagnating' || gate === null || signature === null) return undefined;
    return this.#standing(gate, signature);
  }

  #settleWork(name: string, work: Work): void {
    const now = judgementOf(work.steps, work.blocked);
    const holding = this.#holding(now);
    const open = work.signals.find(({ status }) => status === 'open');
    if (open !== undefined) {
      const next = this.#openBecomes(work, open, now);
      if (next === 'open') return;
      open.status = next;
    }
    if (!now.raises || holding !== undefined) return;
    const about = aboutWork(name, work.incarnation);
    const ordinal = work.signals.filter((one) => one.about === about).length + 1;
    const { class: kind, gate, signature } = now;
    work.signals.push({ about, ordinal, class: kind, gate, signature, incarnation: work.incarnation, status: 'open' });
  }

  #openBecomes(work: Work, open: Raised, now: Judgement): Status {
    if (open.incarnation !== work.incarnation || isClosed(work.steps, work.blocked)) return 'withdrawn';
    const joined = this.#holding(open);
    if (joined?.status === 'open' && this.#members(joined).includes(work)) return 'superseded';
    if (now.class === 'unknown') return 'open';
    if (now.raises) {
      if (now.class === open.class) return 'open';
      return this.#holding(now)?.status === 'acknowledged' ? 'withdrawn' : 'superseded';
    }
    // The answer to a shared failure makes the class stand: it says nothing of an own signal.
    const isStanding = lastSubstantive(work.steps) < countsFrom(work.steps);
    return isStanding && now.class === open.class && open.class !== 'awaiting-wake' ? 'open' : 'withdrawn';
  }
}

const isRecipient = (work: Work, from: string): boolean => from === work.worker || from === work.orchestrator;
