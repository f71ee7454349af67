/** A time in which an agent was at work, in milliseconds since the Unix epoch. */
export interface Span {
  /** Who: spans of one agent that overlap count once. */
  readonly agent: string;
  readonly from: number;
  readonly to: number;
}

/**
 * The most agents that were at work at one time, and when that began; `null` where there are no spans. Ends count as
 * outside, so that one that begins when another ends is not at work beside it; a span without length counts at its moment.
 */
export function liveAtOnce(spans: readonly Span[]): { readonly peak: number; readonly at: number } | null {
  const edges: { at: number; step: 1 | -1 }[] = [];
  for (const merged of mergedByAgent(spans)) {
    edges.push({ at: merged.from, step: 1 });
    edges.push({ at: Math.max(merged.to, merged.from + 1), step: -1 });
  }
  edges.sort((one, other) => one.at - other.at || one.step - other.step);
  let live = 0;
  let most: { peak: number; at: number } | null = null;
  for (const { at, step } of edges) {
    live += step;
    if (live > (most?.peak ?? 0)) most = { peak: live, at };
  }
  return most;
}

function mergedByAgent(spans: readonly Span[]): Span[] {
  const sorted = [...spans].filter(({ from, to }) => to >= from).sort((one, other) => one.from - other.from);
  const last = new Map<string, { agent: string; from: number; to: number }>();
  const merged: { agent: string; from: number; to: number }[] = [];
  for (const { agent, from, to } of sorted) {
    const before = last.get(agent);
    if (before !== undefined && from <= before.to) before.to = Math.max(before.to, to);
    else {
      const next = { agent, from, to };
      last.set(agent, next);
      merged.push(next);
    }
  }
  return merged;
}
