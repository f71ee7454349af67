import type { SignalView } from '@headway/contracts';

/** Works of a shared failure that are named; the rest is counted. */
const NAMED = 3;

/** The works a signal is about, in few words. */
export function worksText({ works }: Pick<SignalView, 'works'>): string {
  const named = works.slice(0, NAMED).join(', ');
  return works.length > NAMED ? `${named} and ${works.length - NAMED} more` : named;
}

/** What has become of a signal, and through whom or why. */
export function closingText({ state, closing }: Pick<SignalView, 'state' | 'closing'>): string {
  if (closing === null) return state;
  const { from, intent, reason, by } = closing as Record<string, unknown>;
  if (state === 'acknowledged') return `acknowledged by ${String(from)} (${String(intent)})`;
  if (state === 'withdrawn') return `withdrawn: ${String(reason)}`;
  return state === 'superseded' ? `superseded by ${String(by).slice(0, 12)}` : state;
}

/** A time as a length until now, in its largest unit. */
export function agoText(time: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1_000));
  return secondsText(seconds);
}

export function secondsText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}
