import type { SignalReply } from '@headway/contracts';
import { recipientsOf, type Step } from './state.ts';
import { get } from './table.ts';

/** A reply acknowledges the open signal it names, where it comes from one of its recipients; else it is declined. */
export function answer(step: Step, work: string, reply: SignalReply): void {
  const { inReplyTo: signal, from, intent } = reply;
  const place = get(step.state.open, signal);
  const decline = (reason: string) => step.record('headway.reply.declined', { signal, work, from, reason }, signal);
  if (place === undefined) return decline('No signal of this id is open.');
  const works = 'work' in place ? [place.work] : (step.group(place.group)?.members ?? []);
  if (!works.some((member) => recipientsOf(step.work(member)).includes(from)))
    return decline('Only the orchestrator or the worker that it was sent to may answer it.');
  step.putOpen(signal, undefined);
  const kind = 'work' in place ? step.work(place.work)?.open?.kind : 'shared-failure';
  if (kind === undefined) throw new Error(`signal ${signal} is in the open set but not with its work`);
  const incarnations = works.map((member) => step.work(member)?.incarnation ?? 0);
  step.record('headway.signal.acknowledged', { signal, kind, works, intent, from, incarnations }, signal);
  if ('group' in place) {
    const group = step.group(place.group);
    if (group !== undefined) step.putGroup(place.group, { ...group, acknowledged: true });
  }
  for (const member of works) {
    const entry = step.work(member);
    if (entry === undefined) continue;
    const open = entry.open?.signal === signal ? null : entry.open;
    step.putWork(member, { ...entry, open, answered: signal });
  }
}
