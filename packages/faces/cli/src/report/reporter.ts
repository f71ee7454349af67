import { type Client, failureText } from '@headway/client';
import { type EventVerdict, limits, type Problem } from '@headway/contracts';
import { cliLimits } from '../limits.ts';
import type { Memory } from '../state-folder.ts';
import type { Spool } from './spool.ts';

/** What became of a report. */
export type Reported =
  | { readonly outcome: 'accepted'; readonly position: string | null }
  | { readonly outcome: 'duplicate'; readonly position: string | null }
  | { readonly outcome: 'refused'; readonly problem: Problem }
  /** Kept on disk; it is sent before the next report. */
  | { readonly outcome: 'spooled'; readonly reason: string }
  /** Neither sent nor kept. */
  | { readonly outcome: 'lost'; readonly reason: string };

export interface Reporter {
  /** Sends what waits, oldest first, and then this event. Bounded in time; never throws. */
  report(event: object): Promise<Reported>;
}

/** Codes by which the server says "not now" about one event. */
const transient: ReadonlySet<string> = new Set([
  'log_unavailable',
  'store_unavailable',
  'too_busy',
  'internal',
  'not_yet',
]);
/** Codes that are about this user's settings: the reports are good and wait until those are mended. */
const settings: ReadonlySet<string> = new Set([
  'unauthorised',
  'forbidden',
  'host_not_allowed',
  'origin_not_allowed',
  'not_found',
]);

export function createReporter(client: Client, spool: Spool, memory: Memory): Reporter {
  return {
    async report(event) {
      const kept = spool.add(event);
      if ('reason' in kept) return unspooled(client, memory, event, kept.reason);
      const verdicts = await spool.exclusively(() => drain(client, spool, memory));
      if (verdicts === null) return { outcome: 'spooled', reason: 'another headway is sending' };
      const own = verdicts.settled.get(kept.name);
      if (own !== undefined) return own;
      return { outcome: 'spooled', reason: verdicts.stopped ?? 'older reports are still being sent' };
    },
  };
}

async function unspooled(client: Client, memory: Memory, event: object, reason: string): Promise<Reported> {
  const answer = await client.report([event]);
  if (!answer.ok) return { outcome: 'lost', reason: `${failureText(answer.failure)}; and ${reason}` };
  const verdict = answer.value.events[0];
  return verdict === undefined ? { outcome: 'lost', reason: 'the server gave no verdict' } : settle(verdict, memory);
}

interface Drained {
  readonly settled: ReadonlyMap<string, Reported>;
  /** Why sending stopped before the end. */
  readonly stopped: string | null;
}

async function drain(client: Client, spool: Spool, memory: Memory): Promise<Drained> {
  const settled = new Map<string, Reported>();
  const until = performance.now() + cliLimits.drainMs;
  let waiting = spool.names();
  let most: number = cliLimits.spoolBatch;
  while (waiting.length > 0) {
    if (performance.now() > until) return { settled, stopped: `${waiting.length} reports are still to be sent` };
    const batch = takeBatch(spool, waiting, most);
    waiting = waiting.slice(batch.looked);
    if (batch.events.length === 0) continue;
    const answer = await client.report(batch.events.map(({ event }) => event));
    if (!answer.ok) {
      const { failure } = answer;
      if (failure.kind === 'unavailable' || settings.has(failure.problem.code))
        return { settled, stopped: failureText(failure) };
      // The request as a whole was refused: find the one that is meant by sending one at a time.
      if (batch.events.length > 1) {
        most = 1;
        waiting = [...batch.events.map(({ name }) => name), ...waiting];
        continue;
      }
      refuse(spool, settled, batch.events[0]?.name ?? '', failure.problem);
      continue;
    }
    for (const [index, { name }] of batch.events.entries()) {
      const verdict = answer.value.events[index];
      if (verdict === undefined) return { settled, stopped: 'the server gave no verdict' };
      if (verdict.verdict === 'refused' && transient.has(verdict.problem.code))
        return { settled, stopped: verdict.problem.detail };
      if (verdict.verdict === 'refused') refuse(spool, settled, name, verdict.problem);
      else {
        spool.remove(name);
        settled.set(name, settle(verdict, memory));
      }
    }
  }
  return { settled, stopped: null };
}

function refuse(spool: Spool, settled: Map<string, Reported>, name: string, problem: Problem): void {
  spool.setAside(name);
  settled.set(name, { outcome: 'refused', problem });
}

function takeBatch(spool: Spool, waiting: readonly string[], most: number) {
  const events: { name: string; event: object }[] = [];
  let bytes = 0;
  let looked = 0;
  for (const name of waiting) {
    if (events.length >= Math.min(most, limits.batchEvents)) break;
    const read = spool.read(name);
    if (read !== null && events.length > 0 && bytes + read.bytes > cliLimits.spoolBatchBytes) break;
    looked += 1;
    if (read === null) continue;
    bytes += read.bytes;
    events.push({ name, event: read.event });
  }
  return { events, looked };
}

function settle(verdict: EventVerdict, memory: Memory): Reported {
  if (verdict.verdict === 'refused') return { outcome: 'refused', problem: verdict.problem };
  if (verdict.position !== null) memory.rememberPosition(verdict.position);
  return { outcome: verdict.verdict, position: verdict.position };
}
