import type { Assessment, Signal } from '@headway/contracts';
import { digest } from '@headway/kernel';
import { type Group, groupKey, recipientsOf, type Step, type Wish, type WorkEntry } from './state.ts';

/** The group that holds a wish back: only a stagnating one, for its own gate and signature. */
export function holdsBack(step: Step, wish: Wish | null): Group | null {
  if (wish === null || wish.kind !== 'stagnating' || wish.gate === null || wish.signature === null) return null;
  const group = step.group(groupKey({ gate: wish.gate, signature: wish.signature }));
  return group === undefined || group.signal === null ? null : group;
}

/** Withdraws the work's open signal, if there is one. */
export function withdrawOwn(step: Step, work: string, reason: string): void {
  const entry = step.work(work);
  if (entry === undefined || entry.open === null) return;
  const { signal, kind } = entry.open;
  step.record('headway.signal.withdrawn', { signal, kind, works: [work], reason }, signal);
  close(step, work, entry);
}

/** The open signal gives way to another one. */
export function supersedeOwn(step: Step, work: string, by: string): void {
  const entry = step.work(work);
  if (entry === undefined || entry.open === null) return;
  const { signal, kind } = entry.open;
  step.record('headway.signal.superseded', { signal, kind, works: [work], by }, signal);
  close(step, work, entry);
}

function close(step: Step, work: string, entry: WorkEntry): void {
  if (entry.open !== null) step.putOpen(entry.open.signal, undefined);
  step.putWork(work, { ...entry, open: null });
}

/**
 * Opens, keeps, replaces or withdraws the own signal of an active work as its newest assessment wants it. A signal stays
 * while the class is `unknown`, and while an acknowledgement of something else makes its class stand.
 */
export function settleOwn(step: Step, work: string, assessment: Assessment): void {
  const entry = step.work(work);
  if (entry === undefined) return;
  const { open, wish } = entry;
  if (wish === null) {
    const stands = assessment.class === 'unknown' || (assessment.class === open?.kind && open.kind !== 'awaiting-wake');
    if (!stands) withdrawOwn(step, work, `The class is ${assessment.class} now.`);
  } else if (open === null || open.kind !== wish.kind) raiseOwn(step, work);
}

/** Raises what the work wishes for, unless a shared failure stands for it or an acknowledgement is still under way. */
export function raiseOwn(step: Step, work: string): void {
  const entry = step.work(work);
  if (entry === undefined || entry.wish === null || entry.answered !== null) return;
  const { wish, incarnation } = entry;
  const group = holdsBack(step, wish);
  if (group !== null) {
    if (group.signal === null || group.acknowledged)
      withdrawOwn(step, work, 'A shared failure that was answered covers it.');
    else supersedeOwn(step, work, group.signal.signal);
    return;
  }
  const ordinal = entry.raised + 1;
  const { kind, rule, gate, signature, diff } = wish;
  const id = digest('signal', step.tenant, work, incarnation, kind, rule, gate, signature, diff, ordinal);
  const signal: Signal = { ...wish, signal: id, works: [work], incarnation, ordinal, to: recipientsOf(entry) };
  step.record('headway.signal.raised', signal, id);
  supersedeOwn(step, work, id);
  const superseded = step.work(work) ?? entry;
  step.putWork(work, { ...superseded, open: signal, raised: ordinal });
  step.putOpen(id, { work });
}
