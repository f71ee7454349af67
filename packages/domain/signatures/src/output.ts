import type { Outcome } from '@headway/contracts';
import { outputLimits } from './limits.ts';
import { createPaths } from './paths.ts';
import type { Failure } from './readers/reader.ts';
import { Channel, type LineWatcher } from './reading/channel.ts';
import { Sessions } from './reading/sessions.ts';

export interface OutputReading {
  readonly outcome: Outcome;
  /** The tool that spoke; `null` where it was not recognised. */
  readonly tool: string | null;
  /** Distinct, in text order. Empty when the outcome is `passed`. */
  readonly failures: Failure[];
}

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
  readonly watch?: LineWatcher;
}

export function createOutputReader(options: ReadingOptions = {}): OutputReader {
  const paths = createPaths(options.roots);
  const sessions = new Sessions();
  const channels = new Map<string, Channel>();
  return {
    push(chunk, channel = 'output') {
      let target = channels.get(channel);
      if (target === undefined) {
        target = new Channel(paths, sessions, options.watch);
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
export function readOutput(attempt: Ending & { readonly output: string | Uint8Array }): OutputReading {
  const reader = createOutputReader();
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
  if (exitCode === 0) return { outcome: 'passed', tool: null, failures: [] };
  const named = found.flatMap((part) => part.byTool).filter((part) => part.failures.length > 0);
  const masked = found.map((part) => part.masked);
  const nothing = named.length === 0 && masked.every((part) => part.failures.length === 0);
  const wrapping = nothing ? found.flatMap((part) => part.wrapping) : [];
  const byTool = [...named, ...wrapping].filter((part) => part.failures.length > 0);
  const failures = merge([...byTool, ...masked].map((part) => part.failures));
  const infrastructure =
    byTool.length === 0 &&
    masked.some((part) => part.infrastructure) &&
    masked.every((part) => part.infrastructure || part.failures.length === 0);
  const silent = found.every((part) => part.silent);
  const errored = silent || infrastructure || gaveNoVerdict(exitCode, failures.length > 0);
  const tools = [...new Set(byTool.map((part) => part.tool))].sort();
  return {
    outcome: errored ? 'errored' : 'failed',
    tool: tools.length === 0 ? null : tools.join('+').slice(0, TOOL_CHARS),
    failures,
  };
}

/** Distinct, in text order, at most as many as are kept. */
function merge(lists: readonly (readonly Failure[])[]): Failure[] {
  const byKey = new Map<string, Failure>();
  for (const failure of lists.flat()) if (!byKey.has(failure.key)) byKey.set(failure.key, failure);
  return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, outputLimits.keys);
}

function gaveNoVerdict(exitCode: number | null | undefined, saidSomething: boolean): boolean {
  if (exitCode === undefined) return false;
  if (exitCode === null || exitCode === CANNOT_EXECUTE || exitCode === NOT_FOUND || exitCode === TIMEOUT_EXIT)
    return true;
  if (crashes.has(exitCode)) return !saidSomething;
  return exitCode > SIGNALLED && exitCode <= LAST_SIGNALLED;
}
