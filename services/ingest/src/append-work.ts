import { type EvidenceCommit, limits, type Problem, problem, STREAMS, subjects } from '@headway/contracts';
import type { EventLog, LogMessage } from '@headway/eventlog';
import type { Logger } from '@headway/runtime';
import type { Doubts } from './identity/doubts.ts';
import type { Heads, Turns } from './identity/heads.ts';
import type { Outcome } from './identity/in-flight.ts';
import type { RecentIndex } from './identity/known.ts';
import { type Commit, type Entry, pack } from './intake/pack.ts';
import type { IdentityArchive } from './ports.ts';

/** Headers for the messages of one request, such as its trace. */
export type Headers = Readonly<Record<string, string>>;

/** Times that others may be faster on one work before the client is asked to come back. */
const LOST_RACES = 100;
/** Message ids that are tried where the server takes an append for one that is not in the log. */
const OTHER_IDS = 3;

export interface AppendParts {
  readonly log: EventLog;
  readonly archive: Pick<IdentityArchive, 'lookup'>;
  readonly recent: RecentIndex;
  readonly heads: Heads;
  readonly turns: Turns;
  readonly doubts: Doubts;
  /** Settles when every identity up to a sequence of EVIDENCE is known; `false` = it does not get there. */
  readonly readUpTo: (sequence: number) => Promise<boolean>;
  readonly logger: Logger;
}

/** Entries of one work, whose identities were looked up when the work's head had this mark. */
export interface WorkEntries {
  readonly tenant: string;
  readonly work: string;
  readonly entries: readonly Entry[];
  readonly mark: number;
}

type Settle = (entry: Entry, outcome: Outcome) => void;

export const logAway = () =>
  problem('log_unavailable', 'The log did not acknowledge the event. Send it again; it is taken once.');
export const storeAway = () =>
  problem('store_unavailable', 'It cannot be checked whether the event is known already. Send it again.');
const tooLarge = () =>
  problem('event_too_large', 'The event is too large once its failures are read. Send less of them.');

/**
 * Appends what is new of one work, in commits one after the other, each expecting the one before it. Where another replica
 * was faster, its messages are read first, what stands by them is settled, and the rest is appended after them. After a
 * commit that failed nothing of the work follows. Settles every entry.
 */
export function appendWork(parts: AppendParts, given: WorkEntries, settle: Settle, headers: Headers): Promise<void> {
  const subject = subjects.evidence(given.tenant, given.work);
  return parts.turns.run(subject, () => appendInTurn(parts, subject, given, settle, headers));
}

async function appendInTurn(
  parts: AppendParts,
  subject: string,
  { tenant, entries, mark }: WorkEntries,
  settle: Settle,
  headers: Headers,
): Promise<void> {
  let left = entries;
  let seen = mark;
  const failRest = (found: Problem) => {
    for (const entry of left) settle(entry, { kind: 'failed', problem: found });
  };
  for (let races = 0; left.length > 0; races += 1) {
    if (races > LOST_RACES) return failRest(logAway());
    const now = parts.heads.of(subject).mark;
    if (now !== seen) {
      seen = now;
      const fresh = await withoutStanding(parts, left, settle);
      if (fresh === null) return failRest(storeAway());
      left = fresh;
      continue;
    }
    const { rest, end } = await appendCommits(parts, pack(tenant, left).flat(), settle, headers);
    left = rest;
    if (end.end === 'failed') return failRest(logAway());
    if (end.end === 'conflict' && !(await readWhatStands(parts, subject, end.last))) return failRest(logAway());
  }
}

/** Settles what stands by now, and gives the others; `null` where the archive cannot be asked. */
async function withoutStanding(
  { archive, recent, logger }: AppendParts,
  entries: readonly Entry[],
  settle: Settle,
): Promise<readonly Entry[] | null> {
  // The index before the archive: what leaves the index meanwhile is in the archive by then.
  const left = entries.filter((entry) => {
    const standing = recent.find(entry.key);
    if (standing !== undefined) settle(entry, { kind: 'stands', standing, fresh: false });
    return standing === undefined;
  });
  if (left.length === 0) return left;
  try {
    const archived = await archive.lookup(left.map(({ key }) => key));
    return left.filter((entry) => {
      const old = archived.get(entry.key);
      if (old !== undefined)
        settle(entry, { kind: 'stands', standing: { content: old.content, position: null }, fresh: false });
      return old === undefined;
    });
  } catch (error) {
    logger.warn({ err: error }, 'the archive cannot be asked for known identities');
    return null;
  }
}

type End =
  | { readonly end: 'done' | 'failed' }
  /** `last`: the newest message of the work, where the server told it. */
  | { readonly end: 'conflict'; readonly last: number | null };

interface Appended {
  /** Entries that are not settled. */
  readonly rest: readonly Entry[];
  readonly end: End;
}

async function appendCommits(
  parts: AppendParts,
  commits: readonly Commit[],
  settle: Settle,
  headers: Headers,
): Promise<Appended> {
  for (const [at, commit] of commits.entries()) {
    if (commit.payload.length > limits.commitBytes) {
      for (const entry of commit.entries) settle(entry, { kind: 'failed', problem: tooLarge() });
      continue;
    }
    const end = await appendCommit(parts, commit, settle, headers);
    if (end.end !== 'done') return { rest: commits.slice(at).flatMap(({ entries }) => entries), end };
  }
  return { rest: [], end: { end: 'done' } };
}

async function appendCommit(
  { log, recent, heads, doubts }: AppendParts,
  { subject, messageId, payload, entries }: Commit,
  settle: Settle,
  headers: Headers,
): Promise<End> {
  for (let other = 0; other <= OTHER_IDS; other += 1) {
    const message = {
      subject,
      payload,
      headers,
      messageId: other === 0 ? messageId : `${messageId}.${other}`,
      expectedLastSequence: heads.of(subject).last,
    };
    const answer = await log.append(message);
    if (answer.outcome === 'conflict') return { end: 'conflict', last: answer.lastSequence };
    if (answer.outcome === 'unavailable') {
      doubts.add(message, entries);
      return { end: 'failed' };
    }
    const { position } = answer;
    if (answer.outcome === 'duplicate') {
      const stored = await log.at(STREAMS.evidence, position.sequence).catch(() => undefined);
      if (stored === undefined) return { end: 'failed' };
      // The server remembers an id of a message that is not (any more) in the log: it must not count as taken.
      if (stored === null || !holds(stored, subject, entries)) continue;
    }
    for (const { key, content } of entries) recent.enter(key, content, position);
    if (answer.outcome === 'appended') heads.own(subject, position.sequence);
    for (const entry of entries)
      settle(entry, {
        kind: 'stands',
        standing: { content: entry.content, position },
        fresh: answer.outcome === 'appended',
      });
    return { end: 'done' };
  }
  return { end: 'failed' };
}

/** Whether a stored message is the commit of these entries. */
function holds(stored: LogMessage, subject: string, entries: readonly Entry[]): boolean {
  if (stored.subject !== subject) return false;
  try {
    const { events, contents } = JSON.parse(Buffer.from(stored.payload).toString('utf8')) as EvidenceCommit;
    return (
      events.length === entries.length &&
      entries.every(
        ({ event, content }, at) =>
          events[at]?.id === event.id && events[at].source === event.source && contents[at] === content,
      )
    );
  } catch {
    return false;
  }
}

/** Waits until what stands under the subject has been read. `false` where that does not come to pass. */
async function readWhatStands(
  { log, heads, readUpTo, logger }: AppendParts,
  subject: string,
  told: number | null,
): Promise<boolean> {
  try {
    const sequence = told ?? (await log.last(STREAMS.evidence, subject))?.sequence ?? 0;
    if (!(await readUpTo(sequence))) return false;
    heads.told(subject, sequence);
    return true;
  } catch (error) {
    logger.warn({ err: error, subject }, 'the newest message of a work cannot be read');
    return false;
  }
}
