import type { Assessment, FailingGate, RuleId, Signal, SignalClass, SignalEvent } from '@headway/contracts';
import { digest } from '@headway/kernel';
import { emptyTable, get, put, type Table } from './table.ts';

/** What a work would raise a signal for, if nothing held it back. */
export interface Wish {
  readonly kind: SignalClass;
  readonly rule: RuleId;
  readonly gate: string | null;
  readonly signature: string | null;
  readonly diff: string | null;
  readonly count: number | null;
  readonly reason: string;
}

/** What the signaller keeps of a live work, from its newest assessment. */
export interface WorkEntry {
  readonly incarnation: number;
  readonly worker: string | null;
  readonly orchestrator: string | null;
  /** Signals raised in this incarnation. */
  readonly raised: number;
  readonly open: Signal | null;
  readonly wish: Wish | null;
  /** The acknowledged signal whose effect on the fold has not come back yet: until then nothing is raised. */
  readonly answered: string | null;
  /** Gates and signatures that make it a candidate of shared failures. */
  readonly failing: readonly FailingGate[];
}

/** The active works whose newest verdict of one gate failed with one signature. */
export interface Group {
  readonly gate: string;
  readonly signature: string;
  readonly members: readonly string[];
  /** The shared failure raised for it; it is over when fewer than two members are left. */
  readonly signal: Signal | null;
  readonly acknowledged: boolean;
  /** Shared failures raised for this gate and signature so far. */
  readonly raised: number;
}

/** Where an open signal is found: with its work, or with its group. */
export type Place = { readonly work: string } | { readonly group: string };

/** What the signaller of one tenant knows: plain JSON. */
export interface SignalsState {
  readonly v: 1;
  readonly works: Table<WorkEntry>;
  readonly groups: Table<Group>;
  readonly open: Table<Place>;
  /** Groups without members that raised a signal once, the one that lost its last member longest ago first. */
  readonly ended?: readonly string[];
  /** No group that was forgotten raised more signals than this: where one comes again, its ordinals go on from here. */
  readonly floor?: number;
}

/** Ended groups that are remembered; of the others only the number of their signals is. */
export const ENDED_GROUPS = 256;

export const initialSignals = (): SignalsState => ({ v: 1, works: emptyTable, groups: emptyTable, open: emptyTable });

export const groupKey = ({ gate, signature }: FailingGate): string => `${signature} ${gate}`;

/** One step of the signaller: the state so far and what it records, both grow as it goes. */
export class Step {
  readonly tenant: string;
  readonly cause: string;
  readonly events: SignalEvent[] = [];
  state: SignalsState;

  constructor(state: SignalsState, tenant: string, cause: string) {
    this.state = state;
    this.tenant = tenant;
    this.cause = cause;
  }

  work = (work: string): WorkEntry | undefined => get(this.state.works, work);
  group = (key: string): Group | undefined => get(this.state.groups, key);

  putWork(work: string, entry: WorkEntry | undefined): void {
    this.state = { ...this.state, works: put(this.state.works, work, entry) };
  }

  putGroup(key: string, group: Group | undefined): void {
    this.state = { ...this.state, groups: put(this.state.groups, key, group) };
  }

  /** Keeps a group that has no member any more, for the ordinal of its next signal, and forgets the oldest such. */
  endGroup(key: string, group: Group): void {
    this.putGroup(key, group);
    const ended = [...(this.state.ended ?? []), key];
    let floor = this.floor;
    for (const oldest of ended.splice(0, Math.max(0, ended.length - ENDED_GROUPS))) {
      floor = Math.max(floor, this.group(oldest)?.raised ?? 0);
      this.putGroup(oldest, undefined);
    }
    this.state = { ...this.state, ended, floor };
  }

  /** A group that had ended has a member again. */
  resumeGroup(key: string): void {
    const ended = this.state.ended ?? [];
    if (ended.includes(key)) this.state = { ...this.state, ended: ended.filter((one) => one !== key) };
  }

  get floor(): number {
    return this.state.floor ?? 0;
  }

  putOpen(signal: string, place: Place | undefined): void {
    this.state = { ...this.state, open: put(this.state.open, signal, place) };
  }

  record<Type extends SignalEvent['type']>(
    type: Type,
    data: Extract<SignalEvent, { type: Type }>['data'],
    about: string,
    work = '',
  ): void {
    const id = digest('signals', this.tenant, this.cause, type, about, work);
    this.events.push({ type, id, data } as SignalEvent);
  }
}

/** The claim's orchestrator and worker: who a signal goes to, and who may answer it. */
export function recipientsOf(entry: Pick<WorkEntry, 'worker' | 'orchestrator'> | undefined): string[] {
  if (entry === undefined) return [];
  return [...new Set([entry.orchestrator, entry.worker])].filter((name) => name !== null);
}

export function wishOf(assessment: Assessment): Wish | null {
  if (!assessment.raises) return null;
  const { rule, gate, signature, diff, count, reason } = assessment;
  return { kind: assessment.class as SignalClass, rule, gate, signature, diff, count, reason };
}
