import { encodeRecord, type PolicyCommit, parseSubject, STREAMS, subjects } from '@headway/contracts';
import { type EventLog, type LogMessage, LogUnavailable, type NewMessage } from '@headway/eventlog';

const BATCH = 1_000;

/**
 * Copies the changes of policies in EVIDENCE up to a sequence into RECORD, which is not trimmed: what was judged by them
 * is judged by them whenever it is read again, and versions go on from theirs. Again is harmless. Throws where the log
 * does not take one.
 */
export async function keepPolicies(log: Pick<EventLog, 'read' | 'append'>, upTo: number): Promise<void> {
  const newest = new Map<string, LogMessage>();
  const ending = new AbortController();
  const reading = { stream: STREAMS.evidence, filters: [subjects.allPolicies], after: 0, batch: BATCH };
  try {
    for await (const { messages, caughtUp } of log.read({ ...reading, signal: ending.signal })) {
      for (const message of messages.filter(({ sequence }) => sequence <= upTo)) {
        const tenant = tenantOf(message);
        if (tenant === null) continue;
        const { version } = changeOf(message).data;
        // Kept before: then it stands as it was.
        await append(log, { ...copyOf(message, tenant, version), expectedLastSequence: 0 });
        newest.set(tenant, message);
      }
      if (caughtUp || messages.some(({ sequence }) => sequence > upTo)) break;
    }
  } finally {
    ending.abort();
  }
  for (const [tenant, message] of newest) await append(log, copyOf(message, tenant, 'newest'));
}

function tenantOf({ subject }: LogMessage): string | null {
  const meaning = parseSubject(subject);
  return meaning?.kind === 'policy' ? meaning.tenant : null;
}

const changeOf = ({ payload }: LogMessage) =>
  (JSON.parse(Buffer.from(payload).toString('utf8')) as PolicyCommit).events[0];

const copyOf = (message: LogMessage, tenant: string, version: number | 'newest'): NewMessage => ({
  subject: subjects.keptPolicy(tenant, version),
  payload: encodeRecord({ v: 1, sequence: message.sequence, events: [changeOf(message)] }),
});

async function append(log: Pick<EventLog, 'append'>, message: NewMessage): Promise<void> {
  const answer = await log.append(message);
  if (answer.outcome === 'unavailable') throw new LogUnavailable(answer.reason);
}
