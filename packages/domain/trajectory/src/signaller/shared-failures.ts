import type { FailingGate, Signal } from '@headway/contracts';
import { digest } from '@headway/kernel';
import { raiseOwn, supersedeOwn } from './own-signals.ts';
import { type Group, groupKey, recipientsOf, type Step } from './state.ts';

/** Active works that it takes for a failure to be shared. */
const SHARED = 2;

/** Takes the work out of every group that is not in `failing`, then into those where it is not yet. */
export function settleMemberships(step: Step, work: string, failing: readonly FailingGate[]): void {
  const before = step.work(work)?.failing ?? [];
  if (sameGates(before, failing)) return;
  const wanted = new Set(failing.map(groupKey));
  const had = new Set(before.map(groupKey));
  for (const gate of before) if (!wanted.has(groupKey(gate))) leave(step, work, groupKey(gate));
  const entry = step.work(work);
  if (entry !== undefined) step.putWork(work, { ...entry, failing });
  const freed = failing.flatMap((gate) => (had.has(groupKey(gate)) ? [] : join(step, work, gate)));
  // What such a work wishes for may be about another gate than the one that is shared now.
  for (const member of freed) if (step.work(member)?.open === null) raiseOwn(step, member);
}

function sameGates(some: readonly FailingGate[], others: readonly FailingGate[]): boolean {
  if (some.length !== others.length) return false;
  return some.every(({ gate, signature }, at) => gate === others[at]?.gate && signature === others[at]?.signature);
}

function leave(step: Step, work: string, key: string): void {
  const group = step.group(key);
  if (group === undefined || !group.members.includes(work)) return;
  const members = group.members.filter((member) => member !== work);
  const { signal } = group;
  if (signal === null) {
    if (members.length > 0) step.putGroup(key, { ...group, members });
    else if (group.raised <= step.floor) step.putGroup(key, undefined);
    else step.endGroup(key, { ...group, members });
    return;
  }
  step.record('headway.signal.left', { signal: signal.signal, work }, signal.signal, work);
  if (members.length >= SHARED) {
    step.putGroup(key, { ...group, members });
    return;
  }
  step.putGroup(key, { ...group, members, signal: null, acknowledged: false });
  if (!group.acknowledged) {
    const reason = 'Fewer than two works fail so now.';
    step.record(
      'headway.signal.withdrawn',
      { signal: signal.signal, kind: 'shared-failure', works: members, reason },
      signal.signal,
    );
    step.putOpen(signal.signal, undefined);
  }
  for (const member of members) if (step.work(member)?.open === null) raiseOwn(step, member);
}

/** Takes the work into the group of a gate, and tells whose own signals gave way to the shared one. */
function join(step: Step, work: string, gate: FailingGate): string[] {
  const key = groupKey(gate);
  const known = step.group(key) ?? { ...gate, members: [], signal: null, acknowledged: false, raised: step.floor };
  if (known.members.length === 0) step.resumeGroup(key);
  if (known.members.includes(work)) return [];
  const group: Group = { ...known, members: [...known.members, work] };
  step.putGroup(key, group);
  if (group.signal !== null) {
    step.record('headway.signal.joined', { signal: group.signal.signal, work }, group.signal.signal, work);
    return group.acknowledged ? [] : supersedeMembers(step, [work], group, group.signal);
  }
  return group.members.length >= SHARED ? raiseShared(step, key, group) : [];
}

function raiseShared(step: Step, key: string, group: Group): string[] {
  const { gate, signature, members } = group;
  const ordinal = group.raised + 1;
  const id = digest('signal', step.tenant, 'shared-failure', gate, signature, ordinal);
  const signal: Signal = {
    signal: id,
    kind: 'shared-failure',
    works: members,
    incarnation: null,
    rule: null,
    gate,
    signature,
    diff: null,
    count: members.length,
    ordinal,
    to: [...new Set(members.flatMap((member) => recipientsOf(step.work(member))))],
    reason: `${gate} fails with the same failures in several works.`,
  };
  step.putGroup(key, { ...group, signal, raised: ordinal });
  step.putOpen(id, { group: key });
  step.record('headway.signal.raised', signal, id);
  return supersedeMembers(step, members, group, signal);
}

/** A shared failure takes the place of its members' own stagnating signals of that gate and signature; tells whose. */
function supersedeMembers(step: Step, works: readonly string[], { gate, signature }: Group, by: Signal): string[] {
  const superseded = works.filter((work) => {
    const open = step.work(work)?.open;
    return open?.kind === 'stagnating' && open.gate === gate && open.signature === signature;
  });
  for (const work of superseded) supersedeOwn(step, work, by.signal);
  return superseded;
}
