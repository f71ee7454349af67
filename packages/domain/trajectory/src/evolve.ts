import {
  defaultPolicy,
  type EvidenceEvent,
  type EvidenceOf,
  type MonitorTicked,
  type Policy,
} from '@headway/contracts';
import { unreachable } from '@headway/kernel';
import { foldAttempt } from './attempts.ts';
import { foldCheckpoint } from './checkpoints.ts';
import { closeDelegation, openDelegation } from './delegations.ts';
import { contradictByEdit, foldDone, observeWork } from './done.ts';
import { foldEdit, forgetFileReturns } from './file-states.ts';
import { nextIncarnation } from './initial-state.ts';
import { laneKey, shownName } from './names.ts';
import { judgedRule } from './rules/index.ts';
import { awaitsTick } from './rules/waiting.ts';
import { baselines } from './sizing.ts';
import { type Draft, noRuns, remembered, type WorkState } from './state.ts';
import { substantive } from './substantive.ts';

/** A reply acknowledged a signal of the work; fed back into its fold by whoever runs the signaller. */
export interface SignalAcknowledged {
  readonly type: 'headway.signal.acknowledged';
  readonly signal: string;
  readonly incarnation: number;
}

/** The monitor's tick. Its identity only matters for the ids of the events it causes. */
export type Tick = Pick<MonitorTicked, 'type'> & Partial<Pick<MonitorTicked, 'source' | 'id'>>;

/** What the fold of a work takes. */
export type Fact = EvidenceEvent | Tick | SignalAcknowledged;

/** The state after one more fact. Pure and total; the same state, not a copy, where the fact changes nothing. */
export function evolve(state: WorkState, fact: Fact, policy: Policy = defaultPolicy): WorkState {
  if (fact.type === 'headway.monitor.ticked') return ticked(state, policy);
  if (fact.type === 'headway.signal.acknowledged')
    return fact.incarnation === state.incarnation ? restarted({ ...state }, policy) : state;
  const incarnation = incarnationOf(state, fact);
  if (incarnation < state.incarnation) return state;
  const later = incarnation > state.incarnation;
  if (!later && state.seen && isIgnored(fact)) return state;
  const draft = later ? nextIncarnation(state, incarnation) : { ...state };
  draft.seen = true;
  fold(draft, fact, policy);
  return draft;
}

/** A refused report opens nothing: it was never accepted. */
function incarnationOf(state: WorkState, fact: EvidenceEvent): number {
  if (fact.type === 'headway.evidence.refused')
    return Math.min(fact.incarnation ?? state.incarnation, state.incarnation);
  return fact.incarnation ?? state.incarnation + (fact.type === 'headway.work.claimed' ? 1 : 0);
}

const isIgnored = (fact: EvidenceEvent): boolean =>
  fact.type === 'headway.usage.recorded' ||
  fact.type === 'headway.signal.sent' ||
  (fact.type === 'headway.checkpoint.recorded' && fact.data.by === 'harness' && !fact.data.diff);

function fold(draft: Draft, fact: EvidenceEvent, policy: Policy): void {
  switch (fact.type) {
    case 'headway.work.claimed':
      return foldClaim(draft, fact.data);
    case 'headway.gate.attempted':
      return foldAttempt(draft, fact.data);
    case 'headway.commit.recorded':
      return foldCommit(draft, fact.data);
    case 'headway.edit.recorded':
      return foldEdited(draft, fact.data);
    case 'headway.checkpoint.recorded':
      return foldCheckpoint(draft, fact.data);
    case 'headway.delegation.opened':
      draft.delegations = openDelegation(draft.delegations, fact.data.delegation);
      return substantive(draft, null);
    case 'headway.delegation.completed':
      draft.delegations = closeDelegation(draft.delegations, fact.data.delegation);
      return substantive(draft, 'delegation-done');
    case 'headway.wake.delivered':
      return substantive(draft, null);
    case 'headway.work.blocked':
      draft.blocked = true;
      return;
    case 'headway.work.unblocked':
      if (!draft.blocked) return;
      restarted(draft, policy);
      draft.blocked = false;
      return;
    case 'headway.work.released':
      draft.released = true;
      return;
    case 'headway.work.done':
      return foldDone(draft, fact.data);
    case 'headway.evidence.refused':
      draft.doubt = true;
      return;
    case 'headway.signal.sent':
    case 'headway.usage.recorded':
      return;
    default:
      unreachable(fact);
  }
}

function ticked(state: WorkState, policy: Policy): WorkState {
  if (!awaitsTick(state, policy)) return state;
  return { ...state, ticks: state.ticks + 1 };
}

/** Runs, returns, overrun counts and ticks start again; what was seen stays, and so does the class for now. */
function restarted(draft: Draft, policy: Policy): WorkState {
  draft.held = judgedRule(draft, policy);
  draft.gates = draft.gates.map((gate) => ({ ...gate, runs: noRuns, unobserved: null }));
  draft.diffs = { ...draft.diffs, returned: [], due: false };
  draft.files = forgetFileReturns(draft.files);
  draft.spent = [0, 0, 0, 0];
  draft.ticks = 0;
  return draft;
}

function foldClaim(draft: Draft, claim: EvidenceOf<'headway.work.claimed'>['data']): void {
  if (draft.done !== 'no') {
    draft.contradicted = true;
    return substantive(draft, null);
  }
  draft.worker = shownName(claim.worker, remembered.workerName);
  if (claim.orchestrator !== undefined) draft.orchestrator = shownName(claim.orchestrator, remembered.workerName);
  if (claim.lane !== undefined) draft.lane = laneKey(claim.lane);
  if (claim.sizing !== undefined) draft.sizing = baselines(claim.sizing);
  substantive(draft, null);
}

function foldCommit(draft: Draft, commit: EvidenceOf<'headway.commit.recorded'>['data']): void {
  if (commit.diff) observeWork(draft, commit.diff);
  const [verdicts, commits, allVerdicts, allCommits] = draft.spent;
  draft.spent = [verdicts, commits + 1, allVerdicts, allCommits + 1];
  draft.judged = true;
  substantive(draft, null);
}

function foldEdited(draft: Draft, edit: EvidenceOf<'headway.edit.recorded'>['data']): void {
  contradictByEdit(draft, edit);
  foldEdit(draft, edit.path, edit.before, edit.after);
  substantive(draft, null);
}
