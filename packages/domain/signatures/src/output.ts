import type { Outcome } from '@headway/contracts';
import { outputLimits } from './limits.ts';
import { createPaths } from './paths.ts';
import type { Failure } from './readers/reader.ts';
import { Channel, type LineWatcher } from './reading/channel.ts';
import { Sessions } from './reading/sessions.ts';
import type { SignatureRules } from './rules.ts';

export interface OutputReading {
  readonly outcome: Outcome;
  /** The tool that spoke; `null` where it was not recognised. */
  readonly tool: string | null;
  /** Distinct, in text order. Empty when the outcome is `passed`. */
  readonly failures: Failure[];
  readonly why: Reason;
}

/** Why the outcome is what it is. */
export type Reason =
  | 'exit-0'
  | 'silence'
  | 'outage'
  | 'missing-command'
  | 'not-executable'
  | 'time-limit'
  | 'killed'
  | 'crash-without-a-word'
  | 'failing-items'
  | 'nothing-extractable';

/** How the gate's process ended. `exitCode: null` = a signal ended it; absent = not known. */
export interface Ending {
  readonly exitCode?: number | null | undefined;
}

/** Reads a gate's output as it comes, in one pass with bounded memory. */
export interface OutputReader {
  /**
   * Bytes (UTF-8, whatever is broken in them) or text. Chunks may end anywhere. Each channel (stdout, stderr) has its
   * own lines, so where one channel's chunk falls into another's changes nothing.
   */
  push(chunk: Uint8Array | string, channel?: string): void;
  /** Closes the reader. */
  end(ending: Ending): OutputReading;
}

export interface ReadingOptions {
  /** Absolute folders that paths in the output may begin with: where the gate ran. */
  readonly roots?: readonly string[];
  readonly rules?: SignatureRules | undefined;
  readonly watch?: LineWatcher;
}

export function createOutputReader(options: ReadingOptions = {}): OutputReader {
  const { roots, rules, watch } = options;
  const surroundings = { paths: createPaths(roots), sessions: new Sessions(), rules, watch };
  const channels = new Map<string, Channel>();
  return {
    push(chunk, channel = 'output') {
      let target = channels.get(channel);
      if (target === undefined) {
        target = new Channel(surroundings);
        channels.set(channel, target);
      }
      target.push(chunk);
    },
    end(ending) {
      return conclude([...channels.values()], ending);
    },
  };
}

/** Reads output that is at hand as a whole. */
export function readOutput(
  attempt: Ending & { readonly output: string | Uint8Array },
  options: ReadingOptions = {},
): OutputReading {
  const reader = createOutputReader(options);
  reader.push(attempt.output);
  return reader.end(attempt);
}

/** A shell's 128+n for signals by which a program under test ends itself: the crash is a verdict if anything was said. */
const crashes: ReadonlySet<number> = new Set([132, 133, 134, 135, 136, 139, 159]);
/** As the attempt's schema allows. */
const TOOL_CHARS = 64;
const TIMEOUT_EXIT = 124;
const CANNOT_EXECUTE = 126;
const NOT_FOUND = 127;
const SIGNALLED = 128;
const LAST_SIGNALLED = 192;

function conclude(channels: readonly Channel[], { exitCode }: Ending): OutputReading {
  const found = channels.map((channel) => channel.end());
  if (exitCode === 0) return { outcome: 'passed', tool: null, failures: [], why: 'exit-0' };
  const named = found.flatMap((part) => part.byTool).filter((part) => part.failures.length > 0);
  const masked = found.flatMap((part) => part.masked);
  const nothing = named.length === 0 && masked.every((part) => part.failures.length === 0);
  const wrapping = nothing ? found.flatMap((part) => part.wrapping) : [];
  const byTool = [...named, ...wrapping].filter((part) => part.failures.length > 0);
  const sure = merge([...byTool, ...masked].map((part) => part.failures));
  const failures = sure.length > 0 ? sure : merge(masked.map((part) => part.loose));
  const isOutage =
    named.length === 0 &&
    masked.some((part) => part.infrastructure) &&
    masked.every((part) => part.infrastructure || part.failures.length === 0);
  const isSilent = found.every((part) => part.silent);
  const noVerdict = isSilent
    ? 'silence'
    : (withoutVerdict(exitCode, failures.length > 0) ?? (isOutage ? 'outage' : null));
  const tools = [...new Set(byTool.map((part) => part.tool))].sort();
  return {
    outcome: noVerdict === null ? 'failed' : 'errored',
    tool: tools.length === 0 ? null : tools.join('+').slice(0, TOOL_CHARS),
    failures,
    why: noVerdict ?? (failures.length > 0 ? 'failing-items' : 'nothing-extractable'),
  };
}

/** Distinct, in text order, at most as many as are kept. */
function merge(lists: readonly (readonly Failure[])[]): Failure[] {
  const byKey = new Map<string, Failure>();
  for (const failure of lists.flat()) if (!byKey.has(failure.key)) byKey.set(failure.key, failure);
  return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, outputLimits.keys);
}

function withoutVerdict(exitCode: number | null | undefined, saidSomething: boolean): Reason | null {
  if (exitCode === undefined) return null;
  if (exitCode === null) return 'killed';
  if (exitCode === CANNOT_EXECUTE) return 'not-executable';
  if (exitCode === NOT_FOUND) return 'missing-command';
  if (exitCode === TIMEOUT_EXIT) return 'time-limit';
  if (crashes.has(exitCode)) return saidSomething ? null : 'crash-without-a-word';
  return exitCode > SIGNALLED && exitCode <= LAST_SIGNALLED ? 'killed' : null;
}
