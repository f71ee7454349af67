import { type GapReport, STREAMS, type StreamName, subjects } from '@headway/contracts';
import type { Checks, Logger } from '@headway/runtime';
import { applyActs } from './apply/acts.ts';
import { applyEffects } from './apply/effects.ts';
import { applyEvidence } from './apply/evidence.ts';
import { applyRecord, evidenceSpokenOf } from './apply/record.ts';
import type { ChangeWatch } from './change-watch.ts';
import { type Decode, decode as decodeMessage } from './decode.ts';
import { type Follower, follow } from './follower.ts';
import { scanForGaps } from './gap-scanner.ts';
import type { Ports } from './ports.ts';
import { rebuilding } from './rebuild.ts';

/** How long a record waits for the evidence it speaks of, before it is looked at again. Milliseconds. */
const EVIDENCE_WAIT = 5_000;
/** How often it looks. Milliseconds. */
const LOOK_AGAIN = 250;

export interface Projecting {
  readonly evidence: Follower;
  readonly record: Follower;
  readonly acts: Follower;
  readonly effects: Follower;
  /** What has to be ready before this service answers. */
  readonly checks: Checks;
  /** The generation of a stream as the log has it now; `null` while that is not known. */
  generationOf(stream: string): number | null;
  readonly followers: readonly { readonly stream: StreamName; readonly follower: Follower }[];
  gaps(): readonly GapReport[];
  readonly rebuilds: Ports['rebuilds'];
  /** Settles when all have ended. */
  readonly ended: Promise<void>;
}

export interface ProjectingOptions {
  readonly ports: Ports & { readonly ping: () => Promise<void> };
  readonly watch: ChangeWatch;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** How messages are read; as this version of the code does unless told. */
  readonly decode?: Decode;
}

/** Follows the streams, each from its own stored position. */
export function project(options: ProjectingOptions): Projecting {
  const { ports, watch, logger, signal, decode = decodeMessage } = options;
  const shared = { ports, watch, logger, signal, decode };
  const evidence = follow({
    ...shared,
    stream: STREAMS.evidence,
    filters: ['evidence.>'],
    apply: applyEvidence,
  });
  const record = follow({
    ...shared,
    stream: STREAMS.record,
    filters: ['record.>'],
    apply: applyRecord,
    ready: (messages) => evidenceFirst(evidence, watch, evidenceSpokenOf(messages, decode), signal),
  });
  const acts = follow({ ...shared, stream: STREAMS.acts, filters: [subjects.allActs], apply: applyActs });
  const effects = follow({
    ...shared,
    stream: STREAMS.effects,
    filters: [subjects.allEffects],
    apply: applyEffects,
  });
  const followers = [
    { stream: STREAMS.evidence, follower: evidence },
    { stream: STREAMS.record, follower: record },
    { stream: STREAMS.acts, follower: acts },
    { stream: STREAMS.effects, follower: effects },
  ];
  const scanner = scanForGaps({ ports, streams: followers.map(({ stream }) => stream), logger, signal });
  return {
    evidence,
    record,
    acts,
    effects,
    followers,
    gaps: scanner.reports,
    rebuilds: ports.rebuilds,
    checks: {
      postgres: async () => {
        await ports.ping();
        return { ready: true };
      },
      evidence: () => readiness(evidence),
      record: () => readiness(record),
      acts: () => readiness(acts),
      effects: () => readiness(effects),
      // A gap is told, and does not keep anybody from reading what is there.
      gaps: () => ({ ready: true, detail: { streams: scanner.reports() } }),
    },
    generationOf: (stream) => followers.find((one) => one.stream === stream)?.follower.state().generation ?? null,
    ended: Promise.all([...followers.map(({ follower }) => follower.ended), scanner.ended, rebuilding(shared)]).then(
      () => undefined,
    ),
  };
}

/**
 * A record is projected after the evidence it covers, so that the timeline tells the cause before the consequence. Where
 * the evidence has ended before it, nothing will come: then the record goes on alone.
 */
async function evidenceFirst(
  evidence: Follower,
  watch: ChangeWatch,
  spokenOf: number,
  signal: AbortSignal,
): Promise<string | null> {
  const deadline = performance.now() + EVIDENCE_WAIT;
  for (let seen = watch.told; evidence.state().place.sequence < spokenOf; seen = watch.told) {
    if (performance.now() > deadline || signal.aborted)
      return evidence.state().caughtUp ? null : `EVIDENCE is projected up to ${evidence.state().place.sequence} only`;
    await watch.next(seen, LOOK_AGAIN, signal);
  }
  return null;
}

function readiness(follower: Follower) {
  const { place, caughtUp, everCaughtUp, heldUp } = follower.state();
  const detail = { generation: place.generation, sequence: place.sequence, caughtUp };
  if (heldUp !== null) return { ready: false as const, reason: heldUp, detail };
  return everCaughtUp
    ? { ready: true as const, detail }
    : { ready: false as const, reason: 'catching up for the first time', detail };
}
