import { type KeptPolicy, type Policy, type PolicyCommit, parseSubject, STREAMS, subjects } from '@headway/contracts';
import type { LogMessage } from '@headway/eventlog';
import { PolicyBook } from '@headway/trajectory';
import type { Logger, TrajectoryLog } from './ports.ts';

/** Changes of policies that are read in one go. */
const BATCH = 1_000;

/** Which policy holds for what: a function of the log alone. */
export interface Policies {
  /** Takes a message that may be a change of a policy, in the order of the stream. */
  take(message: LogMessage): void;
  at(tenant: string, lane: string | null, sequence: number): Policy;
  /** The policy by which a work was judged last. */
  version(tenant: string, version: number | null): Policy;
}

/**
 * Reads every change up to the end of the log as it is now, also those that were trimmed out of the evidence; later ones
 * are taken as they are met in the evidence.
 */
export async function loadPolicies(
  log: Pick<TrajectoryLog, 'read' | 'newestOfEach'>,
  logger: Logger,
  signal: AbortSignal,
): Promise<Policies> {
  const books = new Map<string, PolicyBook>();
  const bookOf = (tenant: string): PolicyBook => {
    const known = books.get(tenant);
    if (known !== undefined) return known;
    const book = new PolicyBook();
    books.set(tenant, book);
    return book;
  };
  const policies: Policies = {
    take: (message) => {
      const meaning = parseSubject(message.subject);
      if (meaning?.kind !== 'policy') return;
      const change = readChange(message);
      if (change === null)
        logger.error({ sequence: message.sequence, subject: message.subject }, 'a change of a policy cannot be read');
      else bookOf(meaning.tenant).take(change, message.sequence);
    },
    at: (tenant, lane, sequence) => bookOf(tenant).at(lane, sequence),
    version: (tenant, version) => bookOf(tenant).version(version),
  };
  // What is trimmed is kept first: read in this order, a change is met in the one or in the other.
  const inEvidence = await changesInEvidence(log, signal);
  for await (const kept of log.newestOfEach(STREAMS.record, subjects.allKeptPolicies))
    for (const message of kept) {
      const meaning = parseSubject(message.subject);
      const change = readChange(message);
      if (meaning?.kind !== 'kept-policy' || meaning.newest) continue;
      if (change === null) logger.error({ subject: message.subject }, 'a change of a policy cannot be read');
      else bookOf(meaning.tenant).take(change, sequenceOf(message));
    }
  for (const message of inEvidence) policies.take(message);
  return policies;
}

async function changesInEvidence(log: Pick<TrajectoryLog, 'read'>, signal: AbortSignal): Promise<LogMessage[]> {
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const reading = { stream: STREAMS.evidence, filters: [subjects.allPolicies], after: 0, batch: BATCH, signal: until };
  const changes: LogMessage[] = [];
  for await (const { messages, caughtUp } of log.read(reading)) {
    changes.push(...messages);
    if (caughtUp) break;
  }
  ending.abort();
  return changes;
}

const sequenceOf = ({ payload }: LogMessage) =>
  (JSON.parse(Buffer.from(payload).toString('utf8')) as KeptPolicy).sequence;

function readChange({ payload }: LogMessage): PolicyCommit['events'][0] | null {
  try {
    const { v, events } = JSON.parse(Buffer.from(payload).toString('utf8')) as PolicyCommit;
    return v === 1 && Number.isSafeInteger(events[0].data.version) ? events[0] : null;
  } catch {
    return null;
  }
}
