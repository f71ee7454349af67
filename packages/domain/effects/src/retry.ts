import type { AdapterClass } from '@headway/contracts';
import { unreachable } from '@headway/kernel';
import type { Observed } from './answers.ts';

/** What is known, by the store's clock and the adapter's declarations, when an effect was looked for. */
export interface RetryFacts {
  readonly class: AdapterClass;
  /** Milliseconds since the first attempt was started. */
  readonly sinceFirstStartMs: number;
  /** Milliseconds since the newest attempt's deadline; below 0 = it is not over yet. */
  readonly sinceDeadlineMs: number;
  readonly timeoutMs: number;
  readonly processingMs: number;
  /** Class K. */
  readonly retentionMs: number | null;
  /** Class P: the very egress process of every attempt has acknowledged the raised epoch, or is known to be dead. */
  readonly egressDrained: boolean;
}

export type RetryJudgement =
  | { readonly retry: true; readonly reason: string }
  | { readonly retry: false; readonly reason: string };

const no = (reason: string): RetryJudgement => ({ retry: false, reason });
const yes = (reason: string): RetryJudgement => ({ retry: true, reason });

/** Whether "it is not there" may authorise another attempt by a machine: the table of design 4.3. */
export function judgeRetry(observed: Exclude<Observed['observed'], 'present'>, facts: RetryFacts): RetryJudgement {
  if (observed === 'unknown') return no('the look at the target gave no complete answer');
  // What an earlier attempt still has under way must not meet a later one that was judged too early.
  if (facts.sinceDeadlineMs < 0) return no('the newest attempt may still be under way');
  switch (facts.class) {
    case 'K': {
      const last = facts.sinceFirstStartMs + facts.timeoutMs + facts.processingMs;
      return facts.retentionMs !== null && last <= facts.retentionMs
        ? yes('the target still remembers the key')
        : no('the target may have forgotten the key');
    }
    case 'C':
      return observed === 'absent'
        ? yes('the condition was fixed when the effect was asked for')
        : no('the target cannot be looked at');
    case 'P':
      if (observed !== 'absent') return no('the target cannot be looked at');
      if (!facts.egressDrained) return no('the egress process of an attempt may still hold its request');
      return facts.sinceDeadlineMs >= facts.processingMs
        ? yes('nothing of the earlier attempts can still land, and nothing is there')
        : no('the target may still be working on an earlier attempt');
    case 'N':
      return no('the target can neither be looked at nor told apart a repeat: a person decides');
    default:
      return unreachable(facts.class);
  }
}
