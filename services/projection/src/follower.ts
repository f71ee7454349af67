import { setTimeout as delay } from 'node:timers/promises';
import type { StreamName } from '@headway/contracts';
import type { LogMessage, ReadBatch } from '@headway/eventlog';
import { ARCHIVE_READER, type Changes, nowhere, type ReaderPlace } from '@headway/readmodel';
import { type Handled, handled, type Logger, type ReadLoopEnd, readLoop } from '@headway/runtime';
import type { ChangeWatch } from './change-watch.ts';
import type { Decode } from './decode.ts';
import type { Ports } from './ports.ts';
import { createProjection, goOnFrom, type StreamProjection } from './reader.ts';

/** How long to wait before the next try when the log or the store is away, or the log is not the one that was read. */
const HELD_UP = 1_000;

/** Messages in one transaction, where their bytes allow: each has a price of its own in round trips. */
const PROJECTED_AT_ONCE = 5_000;

export interface FollowOptions {
  readonly ports: Pick<Ports, 'log' | 'writer'>;
  readonly stream: StreamName;
  readonly filters: readonly string[];
  readonly apply: (changes: Changes, messages: readonly LogMessage[], decode: Decode) => Promise<void>;
  readonly decode: Decode;
  /** Says whether a batch may be projected now; the reason why not otherwise. */
  readonly ready?: (messages: readonly LogMessage[]) => Promise<string | null>;
  readonly watch: ChangeWatch;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export interface Follower {
  state(): FollowerState;
  /** Settles when the signal has aborted and the last transaction is over. Never rejects. */
  readonly ended: Promise<void>;
}

export interface FollowerState {
  readonly place: ReaderPlace;
  /** Of the stream as the log has it now; `null` until the log has answered. */
  readonly generation: number | null;
  /** Nothing more was waiting at the last look. */
  readonly caughtUp: boolean;
  /** The end of the stream was reached once since the start. */
  readonly everCaughtUp: boolean;
  /** Batches whose messages another process had projected already, while this one was at it. */
  readonly fenced: number;
  /** Why it does not get on right now; `null` = it does. */
  readonly heldUp: string | null;
}

/** Projects one stream for ever, strictly in order, from the stored position on. */
export function follow(options: FollowOptions): Follower {
  const state = {
    place: nowhere,
    generation: null,
    caughtUp: false,
    everCaughtUp: false,
    fenced: 0,
    heldUp: null,
  } as Running;
  return { state: () => ({ ...state }), ended: run(options, state) };
}

type Running = { -readonly [Member in keyof FollowerState]: FollowerState[Member] };

async function run(options: FollowOptions, state: Running): Promise<void> {
  while (!options.signal.aborted) {
    let reason: string;
    try {
      const end = await readFromStored(options, state);
      if (end.ended === 'aborted') return;
      reason = end.reason;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    state.heldUp = reason;
    state.caughtUp = false;
    options.logger.warn({ stream: options.stream, reason }, 'projecting is held up');
    await delay(HELD_UP, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

async function readFromStored(options: FollowOptions, state: Running): Promise<ReadLoopEnd> {
  const { ports, stream, filters, watch, logger, signal } = options;
  const stored = await ports.writer.place(ARCHIVE_READER, stream);
  const described = await ports.log.describe(stream);
  const start = goOnFrom(stored, described);
  if (!start.ok) return { ended: 'stopped', reason: start.reason };
  const projection = createProjection({
    writer: ports.writer,
    stream,
    created: described.created,
    from: stored,
    apply: (changes, messages) => options.apply(changes, messages, options.decode),
    onCommit: () => watch.notify(),
    onFenced: () => {
      state.fenced += 1;
    },
  });
  Object.assign(state, { place: stored, generation: described.generation, heldUp: null });
  const loop = readLoop({
    name: `projection of ${stream}`,
    log: ports.log,
    stream,
    filters,
    after: start.after,
    batch: PROJECTED_AT_ONCE,
    handle: (batch) => handle(options, projection, state, batch),
    signal,
    logger,
  });
  return loop.ended;
}

async function handle(
  { ready, watch }: FollowOptions,
  projection: StreamProjection,
  state: Running,
  { messages, caughtUp }: ReadBatch,
): Promise<Handled> {
  try {
    const held = messages.length === 0 || ready === undefined ? null : await ready(messages);
    if (held !== null) return handled.retry(held);
    const projected = await projection.project(messages);
    state.place = projection.place();
    if (projected.outcome === 'lost') return handled.stop(projected.reason);
    state.heldUp = null;
    state.caughtUp = caughtUp;
    state.everCaughtUp ||= caughtUp;
    watch.notify();
    return handled.ok;
  } catch (error) {
    state.heldUp = error instanceof Error ? error.message : String(error);
    state.caughtUp = false;
    throw error;
  }
}
