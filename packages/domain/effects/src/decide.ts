import { type Decider, ok, type Result, refused, unreachable } from '@headway/kernel';
import type { Observed, SendAnswer } from './answers.ts';
import type { AuthorityJudgement } from './authority.ts';
import type { OperationChanged } from './changes.ts';
import { evolve, isTerminal, noOperation, type Operation } from './operation.ts';
import { judgeRetry, type RetryFacts } from './retry.ts';

/** What can be asked of an operation. Facts were read by the caller in the transaction that keeps the answer. */
export type OperationCommand =
  | { readonly command: 'propose'; readonly digest: string; readonly planRevision: string | null }
  | { readonly command: 'judge'; readonly authority: AuthorityJudgement }
  | { readonly command: 'claim'; readonly epoch: number }
  | {
      readonly command: 'start';
      readonly epoch: number;
      readonly claim: ClaimFacts;
      readonly authority: AuthorityJudgement;
      readonly timeoutMs: number;
      /** Why a repeat that a machine authorised is not safe any more, such as a key that was kept long enough; else `null`. */
      readonly repeatUnsafe: string | null;
    }
  | { readonly command: 'settle'; readonly epoch: number; readonly answer: SendAnswer }
  /** The deadline has passed, or a newer epoch has found it STARTED. */
  | { readonly command: 'lose-sight'; readonly epoch: number; readonly reason: string }
  | {
      readonly command: 'reconcile';
      readonly epoch: number;
      readonly claim: ClaimFacts;
      readonly observed: Observed;
      readonly facts: RetryFacts;
      readonly authority: AuthorityJudgement;
    }
  | {
      readonly command: 'resolve';
      readonly to: 'SUCCEEDED' | 'RETRY_AUTHORISED' | 'ABANDONED';
      readonly reason: string;
      readonly result: unknown;
    }
  | { readonly command: 'withdraw'; readonly reason: string };

/** The claim on the operation's resource, read under lock by the clock of the store. */
export interface ClaimFacts {
  readonly epoch: number;
  /** 0 or less = it has ended. */
  readonly leaseLeftMs: number;
}

export type OperationRefusal =
  /** The id was asked for with other inputs (I10). */
  | 'other-digest'
  /** The claim's epoch is not the newest, or its lease has ended (I5). */
  | 'fenced'
  /** The lease would end before the attempt does. */
  | 'lease-too-short'
  /** In its present state that cannot be done. */
  | 'not-in-this-state'
  | 'not-known';

type Decision = Result<readonly OperationChanged[], OperationRefusal>;

const nothing: Decision = ok([]);
const changed = (...changes: readonly OperationChanged[]): Decision => ok(changes);

/** Identity, order and finality of one effect (design 4.1, 4.2). */
export const operationDecider: Decider<Operation, OperationCommand, OperationChanged, OperationRefusal> = {
  initialState: noOperation,
  evolve,
  decide: (operation, command) => {
    if (command.command === 'propose') return propose(operation, command.digest, command.planRevision);
    if (operation.state === null) return refused('not-known');
    switch (command.command) {
      case 'judge':
        return judge(operation, command.authority);
      case 'claim':
        return claim(operation, command.epoch);
      case 'start':
        return start(operation, command);
      case 'settle':
        return settle(operation, command.epoch, command.answer);
      case 'lose-sight':
        return operation.state === 'STARTED'
          ? changed({ change: 'uncertain', epoch: command.epoch, reason: command.reason })
          : nothing;
      case 'reconcile':
        return reconcile(operation, command);
      case 'resolve':
        return resolve(operation, command);
      case 'withdraw':
        return isWithdrawable(operation) ? changed({ change: 'withdrawn', reason: command.reason }) : nothing;
      default:
        return unreachable(command);
    }
  },
};

/** What was sent, or may have been, is never withdrawn. */
const isWithdrawable = ({ state }: Operation): boolean =>
  state === 'ADMITTED' || state === 'CLAIMED' || state === 'RETRY_AUTHORISED';

function propose(operation: Operation, digest: string, planRevision: string | null): Decision {
  if (operation.state === null) return changed({ change: 'proposed', digest, planRevision });
  return operation.digest === digest ? nothing : refused('other-digest');
}

function judge(operation: Operation, authority: AuthorityJudgement): Decision {
  if (operation.state !== 'PROPOSED') return nothing;
  if (authority.holds === 'True') return changed({ change: 'admitted' });
  // An operation that was started once may have had its effect: no verdict can say any more that it never will.
  if (authority.holds === 'False' && operation.attempt === 0)
    return changed({ change: 'rejected', reason: authority.reason });
  return nothing;
}

function claim(operation: Operation, epoch: number): Decision {
  if (epoch <= operation.epoch) return refused('fenced');
  return isWithdrawable(operation) ? changed({ change: 'claimed', epoch }) : refused('not-in-this-state');
}

function start(operation: Operation, command: Extract<OperationCommand, { command: 'start' }>): Decision {
  const { epoch, claim: held, authority, timeoutMs, repeatUnsafe } = command;
  if (!isWithdrawable(operation)) return refused('not-in-this-state');
  if (held.epoch !== epoch || epoch < operation.epoch || held.leaseLeftMs <= 0) return refused('fenced');
  if (held.leaseLeftMs <= timeoutMs) return refused('lease-too-short');
  if (operation.attempt > 0 && repeatUnsafe !== null)
    return changed({ change: 'uncertain', epoch, reason: repeatUnsafe });
  if (authority.holds !== 'True') return changed({ change: 'withdrawn', reason: authority.reason });
  return changed({ change: 'started', epoch });
}

/**
 * A success is evidence whenever it comes, and settles whatever is not final. A failure counts only where it answers the
 * running attempt, and only where no earlier attempt may have had the effect (I3, I4).
 */
function settle(operation: Operation, epoch: number, answer: SendAnswer): Decision {
  if (operation.attempt === 0 || epoch > operation.epoch) return refused('not-in-this-state');
  const running = operation.state === 'STARTED' && operation.epoch === epoch;
  if (answer.answer === 'succeeded') {
    if (operation.state !== null && isTerminal(operation.state)) return note('a late success');
    return changed({ change: 'succeeded', result: answer.result, source: running ? 'answer' : 'late-answer' });
  }
  if (!running) return note(`a late answer: ${answer.answer}`);
  if (answer.answer === 'uncertain') return changed({ change: 'uncertain', epoch, reason: answer.reason });
  if (operation.attempt === 1) return changed({ change: 'failed', reason: answer.reason });
  return changed({
    change: 'uncertain',
    epoch,
    reason: `${answer.reason}; an earlier attempt may have had the effect`,
  });
}

const note = (evidence: string): Decision => changed({ change: 'evidence-recorded', evidence });

function reconcile(operation: Operation, command: Extract<OperationCommand, { command: 'reconcile' }>): Decision {
  const { epoch, claim: held, observed, facts, authority } = command;
  if (held.epoch !== epoch || epoch < operation.epoch || held.leaseLeftMs <= 0) return refused('fenced');
  if (operation.state !== 'UNCERTAIN') return refused('not-in-this-state');
  if (observed.observed === 'present')
    return changed({ change: 'succeeded', result: observed.result, source: 'observation' });
  const judged = judgeRetry(observed.observed, facts);
  if (!judged.retry) return nothing;
  return authority.holds === 'True' ? changed({ change: 'retry-authorised', reason: judged.reason }) : nothing;
}

function resolve(operation: Operation, command: Extract<OperationCommand, { command: 'resolve' }>): Decision {
  if (operation.state !== 'UNCERTAIN') return refused('not-in-this-state');
  const { to, reason, result } = command;
  if (to === 'SUCCEEDED') return changed({ change: 'succeeded', result, source: 'operator' });
  return changed(to === 'ABANDONED' ? { change: 'abandoned', reason } : { change: 'retry-authorised', reason });
}
