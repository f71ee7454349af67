import type { Assessment, FailingGate, Policy, RuleId } from '@headway/contracts';
import { printById } from './diff-states.ts';
import { isConfirmed } from './done.ts';
import { hexOf } from './fingerprint.ts';
import { judgedRule } from './rules/index.ts';
import { type Gate, type Held, NONE, type WorkState } from './state.ts';

/** The class of a work, with the rule and the facts that decided it. Pure: the same state and policy, the same answer. */
export function assess(state: WorkState, policy: Policy): Assessment {
  const found = judgedRule(state, policy);
  const gate = found.gate === null ? null : (state.gates.find((one) => one.id === found.gate) ?? null);
  const phase = phaseOf(state);
  const active = state.seen && (phase === 'unclaimed' || phase === 'claimed');
  const print = found.at === NONE ? null : printById(state.diffs, found.at);
  return {
    incarnation: state.incarnation,
    class: found.class,
    rule: found.rule,
    gate: gate === null ? null : gate.name,
    signature: gate === null ? null : gate.sig,
    diff: print === null ? null : hexOf(print),
    count: found.count,
    reason: reasonOf(found, gate, state),
    failures: gate === null || (gate.newest !== 'failed' && gate.newest !== 'shrank') ? [] : failuresOf(state, gate),
    attempts: state.attempts,
    delta: state.delta === null ? null : { added: state.delta[0], removed: state.delta[1] },
    phase,
    active,
    raises: active && state.held === null && raises(found, policy),
    worker: state.worker,
    orchestrator: state.orchestrator,
    failing: failingGates(state.gates),
    policy: policy.version,
    ...(policy.differs === null ? {} : { policyDiffers: policy.differs }),
  };
}

function failingGates(gates: readonly Gate[]): FailingGate[] {
  const failing: FailingGate[] = [];
  for (const { name, sig } of gates) if (sig !== null) failing.push({ gate: name, signature: sig });
  return failing;
}

function phaseOf(state: WorkState): Assessment['phase'] {
  if (state.done !== 'no') return isConfirmed(state) ? 'done' : 'done-claimed';
  if (state.released) return 'released';
  if (state.blocked) return 'blocked';
  return state.worker === null ? 'unclaimed' : 'claimed';
}

function raises(found: Held, policy: Policy): boolean {
  if (found.class === 'awaiting-wake') return (found.count ?? 0) >= policy.ticksBeforeWake;
  return found.class === 'stagnating' || found.class === 'thrashing';
}

function failuresOf(state: WorkState, gate: Gate): readonly string[] {
  return state.shown.find(([id]) => id === gate.id)?.slice(1) ?? [];
}

const reasons: Record<RuleId, (gate: string, count: number, state: WorkState) => string> = {
  conflict: (_gate, _count, state) =>
    state.contradicted
      ? 'Evidence came after done that is on another diff state or claims the work again.'
      : 'One event id came with two contents; the first stands, the next verdict decides.',
  revert: (_gate, count) =>
    `The diff came back to ${count} different states it had left, with the failures known there.`,
  'same-failure': (gate, count) => `${gate} failed ${count} times running with the same failures on an unmoved diff.`,
  'no-movement': (gate, count) =>
    `${gate} was run ${count} times in preparation without a pass, and the diff did not move.`,
  circling: (gate, count) => `${gate} failed ${count} times running with the same failures although the diff moved.`,
  flaky: (gate) => `${gate} failed, passed and failed on one diff state.`,
  infrastructure: (_gate, count) => `The last ${count} gate attempts gave no verdict: the gate itself did not work.`,
  overrun: (_gate, count, { sizing: [attempts, commits] }) =>
    `${count} verdicts or commits, where ${attempts ?? 'no'} attempts and ${commits ?? 'no'} commits were estimated.`,
  'passed-prep': (_gate, count) => `Pauses after a passed prep gate, for ${count} ticks.`,
  'subagent-stop': (_gate, count) => `Pauses since a subagent stopped, for ${count} ticks.`,
  'delegation-done': (_gate, count) => `Pauses since its delegation was completed, for ${count} ticks.`,
  'pass-stands': (gate) => `${gate} passed, and that stands.`,
  'set-shrank': (gate, count) => `${gate} has fewer failures than before: ${count} left.`,
  'diff-unobservable': (gate, count) => `${gate} failed ${count} times running, and the diff could not be observed.`,
  'nothing-fired': () => 'There are verdicts or commits, no progress yet, and no sign of a loop.',
  'no-evidence': () => 'No gate verdict and no commit yet.',
};

const reasonOf = (found: Held, gate: Gate | null, state: WorkState): string =>
  reasons[found.rule](gate?.name ?? 'A gate', found.count ?? 0, state);
