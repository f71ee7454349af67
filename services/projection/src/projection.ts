import { STREAMS } from '@headway/contracts';
import type { LogMessage } from '@headway/eventlog';
import type { Checks, Logger } from '@headway/runtime';
import { applyEvidence } from './apply/evidence.ts';
import { applyRecord, evidenceSpokenOf } from './apply/record.ts';
import type { ChangeWatch } from './change-watch.ts';
import { type Follower, follow } from './follower.ts';
import type { Ports } from './ports.ts';

/** How long a record waits for the evidence it speaks of, before it is looked at again. Milliseconds. */
const EVIDENCE_WAIT = 5_000;
/** How often it looks. Milliseconds. */
const LOOK_AGAIN = 250;

export interface Projecting {
  readonly evidence: Follower;
  readonly record: Follower;
  /** What has to be ready before this service answers. */
  readonly checks: Checks;
  /** The generation of a stream as the log has it now; `null` while that is not known. */
  generationOf(stream: string): number | null;
  /** Settles when both have ended. */
  readonly ended: Promise<void>;
}

export interface ProjectingOptions {
  readonly ports: Ports & { readonly ping: () => Promise<void> };
  readonly watch: ChangeWatch;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Follows both streams, each from its own stored position. */
export function project({ ports, watch, logger, signal }: ProjectingOptions): Projecting {
  const evidence = follow({
    ports,
    stream: STREAMS.evidence,
    filters: ['evidence.>'],
    apply: applyEvidence,
    watch,
    logger,
    signal,
  });
  const record = follow({
    ports,
    stream: STREAMS.record,
    filters: ['record.>'],
    apply: applyRecord,
    ready: (messages) => evidenceFirst(evidence, watch, messages, signal),
    watch,
    logger,
    signal,
  });
  return {
    evidence,
    record,
    checks: {
      postgres: async () => {
        await ports.ping();
        return { ready: true };
      },
      evidence: () => readiness(evidence),
      record: () => readiness(record),
    },
    generationOf: (stream) => (stream === STREAMS.record ? record : evidence).state().generation,
    ended: Promise.all([evidence.ended, record.ended]).then(() => undefined),
  };
}

/**
 * A record is projected after the evidence it covers, so that the timeline tells the cause before the consequence. Where
 * the evidence has ended before it, nothing will come: then the record goes on alone.
 */
async function evidenceFirst(
  evidence: Follower,
  watch: ChangeWatch,
  messages: readonly LogMessage[],
  signal: AbortSignal,
): Promise<string | null> {
  const spokenOf = evidenceSpokenOf(messages);
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
