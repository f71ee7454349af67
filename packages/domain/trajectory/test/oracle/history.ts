/**
 * The reference reader: it keeps every event and recomputes everything from the start, one small function for each
 * sentence of the rules. It shares no code with the fold.
 */

/** One event about one work in one incarnation, as the reference sees it. */
export type Step =
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
  | { readonly kind: 'errored'; readonly gate: string }
  | { readonly kind: 'commit'; readonly diff: DiffSeen | null }
  | { readonly kind: 'edit'; readonly path: string; readonly before: string; readonly after: string }
  | {
      readonly kind: 'checkpoint';
      readonly by: 'worker' | 'subagent-stop' | 'harness';
      readonly diff: DiffSeen | null;
    }
  | { readonly kind: 'delegation'; readonly opened: boolean; readonly delegation: string }
  | { readonly kind: 'claim'; readonly sizing: SizingSeen | null }
  | { readonly kind: 'done'; readonly confirmed: boolean }
  | { readonly kind: 'wake' | 'blocked' | 'unblocked' | 'released' | 'conflict' | 'acknowledged' | 'tick' | 'chatter' };

export interface Verdict {
  readonly gate: string;
  readonly stage: 'prep' | 'done' | 'bare';
  readonly passed: boolean;
  /** `null`: nothing could be extracted, or it passed. */
  readonly set: readonly string[] | null;
  readonly signature: string | null;
  readonly diff: DiffSeen | null;
}
export interface DiffSeen {
  readonly state: string;
  /** Absent: the report did not say. */
  readonly files: ReadonlyMap<string, string> | null;
}
export interface SizingSeen {
  readonly gateAttempts?: number;
  readonly commits?: number;
  readonly toolCalls?: number;
  readonly files?: number;
}
export type Verdicted = Verdict & { readonly at: number };

export const BASE = 'base';
const UNCHANGED = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const content = (hash: string | null): string => (hash === null ? 'absent' : `#${hash}`);

interface Raw {
  readonly type: string;
  readonly data: any;
}

/** The unchanged tree has a fixed hash; a diff that lists no file at all says the same. */
function diffOf(diff: Raw['data']): DiffSeen | null {
  if (diff == null) return null;
  const files = diff.files as { path: string; hash: string | null }[] | undefined;
  const unchanged = diff.hash === UNCHANGED || files?.length === 0;
  return {
    state: unchanged ? BASE : diff.hash,
    files: unchanged
      ? new Map()
      : files === undefined
        ? null
        : new Map(files.map((one) => [one.path, content(one.hash)])),
  };
}

/** `failed` with exit 126 or 127, or with an output that is there and empty and without failures, is errored. */
function isErrored({ outcome, exitCode, output, failures }: Raw['data']): boolean {
  if (outcome === 'errored') return true;
  if (outcome !== 'failed') return false;
  return exitCode === 126 || exitCode === 127 || (output?.trim() === '' && (failures ?? []).length === 0);
}

/** Failures where given are the failing set, and a set has no order; nothing extractable is `null`. */
function setOf({ outcome, failures }: Raw['data']): string[] | null {
  if (outcome === 'passed' || failures === undefined || failures.length === 0) return null;
  return [...new Set((failures as { key: string }[]).map(({ key }) => key))].toSorted();
}

export function stepOf({ type, data }: Raw): Step {
  switch (type) {
    case 'headway.gate.attempted': {
      if (isErrored(data)) return { kind: 'errored', gate: data.gate };
      const set = setOf(data);
      const verdict: Verdict = {
        gate: data.gate,
        stage: data.stage ?? 'bare',
        passed: data.outcome === 'passed',
        set,
        signature: set === null ? null : JSON.stringify(set),
        diff: diffOf(data.diff),
      };
      return { kind: 'verdict', verdict };
    }
    case 'headway.commit.recorded':
      return { kind: 'commit', diff: diffOf(data.diff) };
    case 'headway.edit.recorded':
      return { kind: 'edit', path: data.path, before: content(data.before), after: content(data.after) };
    case 'headway.checkpoint.recorded':
      return { kind: 'checkpoint', by: data.by, diff: diffOf(data.diff) };
    case 'headway.delegation.opened':
    case 'headway.delegation.completed':
      return { kind: 'delegation', opened: type.endsWith('opened'), delegation: data.delegation };
    case 'headway.work.claimed':
      return { kind: 'claim', sizing: data.sizing ?? null };
    case 'headway.work.done':
      return { kind: 'done', confirmed: data.by !== undefined && data.by !== 'worker' };
    case 'headway.work.blocked':
      return { kind: 'blocked' };
    case 'headway.work.unblocked':
      return { kind: 'unblocked' };
    case 'headway.work.released':
      return { kind: 'released' };
    case 'headway.wake.delivered':
      return { kind: 'wake' };
    default:
      return { kind: 'chatter' };
  }
}

export const verdictsOf = (steps: readonly Step[]): Verdicted[] =>
  steps.flatMap((step, at) => (step.kind === 'verdict' ? [{ ...step.verdict, at }] : []));

/** Gates in the order in which they were tried first in the incarnation. */
export const gatesOf = (steps: readonly Step[]): string[] => [
  ...new Set(
    steps.flatMap((step) =>
      step.kind === 'verdict' ? [step.verdict.gate] : step.kind === 'errored' ? [step.gate] : [],
    ),
  ),
];

/** A strict subset. `null` is neither smaller nor larger than anything. */
export const isSmaller = (set: readonly string[] | null, before: readonly string[] | null): boolean =>
  set !== null && before !== null && set.length < before.length && set.every((key) => before.includes(key));

/** An acknowledgement sets the counters to zero, and `unblocked` restarts them like one. */
export const countsFrom = (steps: readonly Step[]): number =>
  steps.findLastIndex(({ kind }) => kind === 'acknowledged' || kind === 'unblocked');

/** What a step says of the diff state; the errored attempt's is not looked at, and `null` says nothing. */
export function observedAt(step: Step | undefined): DiffSeen | null {
  if (step?.kind === 'verdict') return step.verdict.diff;
  if (step?.kind === 'commit' || step?.kind === 'checkpoint') return step.diff;
  return null;
}

export interface Visit {
  readonly state: string;
  /** The step that came there; -1: the start of the incarnation. */
  readonly at: number;
}

/** The whole diff states one after another; the unchanged tree is the first of each incarnation. */
export function wholeVisits(steps: readonly Step[]): Visit[] {
  const visits: Visit[] = [{ state: BASE, at: -1 }];
  for (const [at, step] of steps.entries()) {
    const seen = observedAt(step);
    if (seen !== null && seen.state !== visits.at(-1)?.state) visits.push({ state: seen.state, at });
  }
  return visits;
}

export interface FileSeen {
  readonly visits: Visit[];
  /** The content it has in the base, where an edit told. */
  base: string | null;
}

/** One file's states one after another: from edits and listings; not listed any longer is its base state. */
export function filesSeen(steps: readonly Step[]): Map<string, FileSeen> {
  const files = new Map<string, FileSeen>();
  const file = (path: string): FileSeen => {
    const known = files.get(path) ?? { visits: [{ state: BASE, at: -1 }], base: null };
    files.set(path, known);
    return known;
  };
  const visit = ({ visits, base }: FileSeen, content: string, at: number) => {
    const state = content === base ? BASE : content;
    if (visits.at(-1)?.state !== state) visits.push({ state, at });
  };
  for (const [at, step] of steps.entries()) {
    const listed = observedAt(step)?.files ?? null;
    if (listed !== null) {
      for (const path of new Set([...files.keys(), ...listed.keys()])) visit(file(path), listed.get(path) ?? BASE, at);
    }
    if (step.kind === 'edit') {
      const edited = file(step.path);
      if (edited.visits.at(-1)?.state === BASE) edited.base ??= step.before;
      visit(edited, step.before, at);
      visit(edited, step.after, at);
    }
  }
  return files;
}
