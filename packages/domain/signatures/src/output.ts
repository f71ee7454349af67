import type { Outcome } from '@headway/contracts';
import { outputLimits } from './limits.ts';
import { cleanLine, LineSplitter } from './lines.ts';
import { type Failure, readers, type ToolReader } from './readers/index.ts';

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
   * own lines; which channel's chunk comes first changes nothing.
   */
  push(chunk: Uint8Array | string, channel?: string): void;
  /** Closes the reader. */
  end(ending: Ending): OutputReading;
}

export function createOutputReader(): OutputReader {
  const channels = new Map<string, Channel>();
  return {
    push(chunk, channel = 'output') {
      let target = channels.get(channel);
      if (target === undefined) {
        target = new Channel();
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

class Channel {
  readonly tools: ToolReader[] = readers.map((create) => create());
  empty = true;
  readonly #lines = new LineSplitter((raw) => {
    const line = cleanLine(raw);
    if (line === '') return;
    this.empty = false;
    for (const tool of this.tools) if (tool.take(line)) return;
  });

  push(chunk: Uint8Array | string): void {
    this.#lines.push(chunk);
  }

  end(): void {
    this.#lines.end();
  }
}

/** A shell's 128+n for signals by which a program under test ends itself: the crash is a verdict if anything was said. */
const crashes: ReadonlySet<number> = new Set([132, 133, 134, 135, 136, 139, 159]);
const TIMEOUT_EXIT = 124;
const CANNOT_EXECUTE = 126;
const NOT_FOUND = 127;
const SIGNALLED = 128;
const LAST_SIGNALLED = 192;

function conclude(channels: readonly Channel[], { exitCode }: Ending): OutputReading {
  for (const channel of channels) channel.end();
  if (exitCode === 0) return { outcome: 'passed', tool: null, failures: [] };
  const found = channels.flatMap((channel) => channel.tools.map((tool) => tool.end()));
  const byKey = new Map<string, Failure>();
  for (const { failures } of found)
    for (const failure of failures) if (!byKey.has(failure.key)) byKey.set(failure.key, failure);
  const failures = [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, outputLimits.keys);
  const spoke = found.flatMap(({ tool, failures }) => (tool === null || failures.length === 0 ? [] : [tool]));
  const tools = [...new Set(spoke)];
  const infrastructure =
    found.some((part) => part.infrastructure) &&
    found.every((part) => part.infrastructure || part.failures.length === 0);
  const silent = channels.every((channel) => channel.empty);
  const errored = silent || infrastructure || gaveNoVerdict(exitCode, failures.length > 0);
  return {
    outcome: errored ? 'errored' : 'failed',
    tool: tools.length === 0 ? null : tools.join('+').slice(0, 64),
    failures,
  };
}

function gaveNoVerdict(exitCode: number | null | undefined, saidSomething: boolean): boolean {
  if (exitCode === undefined) return false;
  if (exitCode === null || exitCode === CANNOT_EXECUTE || exitCode === NOT_FOUND || exitCode === TIMEOUT_EXIT)
    return true;
  if (crashes.has(exitCode)) return !saidSomething;
  return exitCode > SIGNALLED && exitCode <= LAST_SIGNALLED;
}
