import { tokenDigest } from '@headway/access';
import {
  type EventsAnswer,
  type EvidenceCommit,
  type EvidenceEvent,
  identityKey,
  parseSubject,
} from '@headway/contracts';
import { createMemoryLog, createMemoryStreams, type EventLog, type LogMessage } from '@headway/eventlog';
import { levelOf } from '@headway/readmodel';
import { createLogger } from '@headway/runtime';
import { readAttempt } from '@headway/signatures';
import { eventually } from '@headway/testkit';
import { createIngest, type IngestOptions } from '../src/ingest.ts';
import type { BusLevel, IdentityArchive } from '../src/ports.ts';

export const TOKEN = 'operator-token-0123456789';

/** The archive in memory: knows what it was told to take over from the log. */
export function memoryArchive(log: EventLog) {
  const known = new Map<string, { content: string; sequence: number }>();
  let place = { generation: 0, sequence: 0 };
  const archive = {
    away: false,
    lookups: 0,
    async archived() {
      if (archive.away) throw new Error('the store is away');
      return place;
    },
    async lookup(keys: readonly string[]) {
      archive.lookups += 1;
      if (archive.away) throw new Error('the store is away');
      return new Map([...known].filter(([key]) => keys.includes(key)));
    },
    /** Takes over everything that is in the log now. */
    async follow() {
      for (const message of await messagesOf(log)) {
        for (const { key, content } of identitiesOf(message)) known.set(key, { content, sequence: message.sequence });
        place = { generation: message.generation, sequence: message.sequence };
      }
    },
    setPlace(given: typeof place) {
      place = given;
    },
  };
  return archive satisfies IdentityArchive;
}

/** Compares the log with the archive as the store's own level does. */
function levelBetween(log: EventLog, archive: IdentityArchive): BusLevel {
  return {
    lost: () => null,
    async check() {
      const { generation, sequence } = await archive.archived();
      const end = { stream: 'EVIDENCE', generation, sequence, created: null, lostUpTo: 0 };
      return generation === 0 ? null : levelOf(await log.describe('EVIDENCE'), end);
    },
  };
}

export async function messagesOf(log: EventLog): Promise<LogMessage[]> {
  const { lastSequence } = await log.describe('EVIDENCE');
  const messages: LogMessage[] = [];
  for (let sequence = 1; sequence <= lastSequence; sequence += 1) {
    const message = await log.at('EVIDENCE', sequence);
    if (message !== null) messages.push(message);
  }
  return messages;
}

export const commitOf = (message: LogMessage) =>
  JSON.parse(Buffer.from(message.payload).toString('utf8')) as EvidenceCommit;

function identitiesOf(message: LogMessage): { key: string; content: string }[] {
  const meaning = parseSubject(message.subject);
  if (meaning?.kind !== 'evidence') return [];
  const { events, contents } = commitOf(message);
  return events.map((event, index) => ({ key: identityKey(meaning.tenant, event), content: contents[index] ?? '' }));
}

/** Every event in the log, in order. */
export const eventsOf = async (log: EventLog): Promise<EvidenceEvent[]> =>
  (await messagesOf(log)).flatMap((message) => commitOf(message).events);

export async function startIngest(given: Partial<IngestOptions> & { store?: EventLog } = {}) {
  const stop = new AbortController();
  const store = given.store ?? createMemoryLog({ streams: createMemoryStreams() });
  const logger = createLogger('test');
  logger.level = 'silent';
  const archive = (given.archive as ReturnType<typeof memoryArchive> | undefined) ?? memoryArchive(store);
  const ingest = createIngest({
    log: store,
    archive,
    level: levelBetween(given.log ?? store, archive),
    signals: { threadOf: async () => null, recorded: async () => ({ generation: 0, sequence: 0 }) },
    readAttempt,
    clock: { now: () => Date.now() },
    logger,
    access: { operatorTokenSha256: tokenDigest(TOKEN), loopbackOpen: true },
    publicHosts: [],
    signal: stop.signal,
    ...given,
  });
  const { app } = ingest;
  const ready = async () =>
    (await app.inject('/readyz')).json() as { ready: boolean; checks: Record<string, { reason?: string }> };
  const post = async (type: string, body: string | Buffer, headers: Record<string, string> = {}) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/events',
      headers: { 'content-type': type, ...headers },
      payload: body,
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.json() as EventsAnswer & { code?: string; detail?: string },
    };
  };
  return {
    ...ingest,
    store,
    archive,
    ready,
    post,
    batch: (events: readonly unknown[], headers: Record<string, string> = {}) =>
      post('application/cloudevents-batch+json', JSON.stringify(events), headers),
    untilReady: () => eventually(async () => (await ready()).ready, { what: 'readiness' }),
    async stop() {
      stop.abort();
      await app.close();
    },
    /** As if the process had been killed: nothing of it goes on, nothing is said to the log. */
    crash: () => stop.abort(),
  };
}
export type IngestUnderTest = Awaited<ReturnType<typeof startIngest>>;

/** A note about a work: the smallest evidence. */
export const note = (id: string, text = 'n', work = 'W-1', source = 'test') => ({
  specversion: '1.0',
  id,
  source,
  subject: work,
  type: 'headway.checkpoint.recorded',
  data: { by: 'worker', note: text },
});
