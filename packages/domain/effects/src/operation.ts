import type { EffectState } from '@headway/contracts';
import type { OperationChanged } from './changes.ts';

/** The state of one operation, folded from its changes. */
export interface Operation {
  /** `null` = nobody asked for it yet. */
  readonly state: EffectState | null;
  /** Number of changes so far. */
  readonly version: number;
  readonly digest: string | null;
  readonly planRevision: string | null;
  /** Of the newest claim that this operation knows of; 0 = none. */
  readonly epoch: number;
  /** Starts so far. */
  readonly attempt: number;
  readonly result: unknown;
  /** Answers and observations that were only noted. */
  readonly evidence: number;
}

export const noOperation = (): Operation => ({
  state: null,
  version: 0,
  digest: null,
  planRevision: null,
  epoch: 0,
  attempt: 0,
  result: null,
  evidence: 0,
});

const TERMINAL: ReadonlySet<EffectState> = new Set(['SUCCEEDED', 'FAILED', 'REJECTED', 'ABANDONED']);
export const isTerminal = (state: EffectState): boolean => TERMINAL.has(state);

/**
 * Whether an operation keeps every other one off its resource (I11): it holds the claim, or something of it may still
 * take effect. One that was never started waits without blocking.
 */
export const isOpen = ({ state, attempt }: Pick<Operation, 'state' | 'attempt'>): boolean =>
  state !== null && !isTerminal(state) && (attempt > 0 || state === 'CLAIMED');

const AFTER: Readonly<Record<Exclude<OperationChanged['change'], 'evidence-recorded'>, EffectState>> = {
  proposed: 'PROPOSED',
  admitted: 'ADMITTED',
  rejected: 'REJECTED',
  claimed: 'CLAIMED',
  started: 'STARTED',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  uncertain: 'UNCERTAIN',
  'retry-authorised': 'RETRY_AUTHORISED',
  withdrawn: 'PROPOSED',
  abandoned: 'ABANDONED',
};

export function evolve(operation: Operation, event: OperationChanged): Operation {
  const next = { ...operation, version: operation.version + 1 };
  if (event.change === 'evidence-recorded') return { ...next, evidence: operation.evidence + 1 };
  const moved = { ...next, state: AFTER[event.change] };
  switch (event.change) {
    case 'proposed':
      return { ...moved, digest: event.digest, planRevision: event.planRevision };
    case 'claimed':
      return { ...moved, epoch: event.epoch };
    case 'started':
      return { ...moved, epoch: event.epoch, attempt: operation.attempt + 1 };
    case 'uncertain':
      return { ...moved, epoch: Math.max(operation.epoch, event.epoch) };
    case 'succeeded':
      return { ...moved, result: event.result };
    default:
      return moved;
  }
}
