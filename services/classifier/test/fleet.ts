import { type Claims, createMemoryClaims } from '@headway/claims';
import {
  contentDigest,
  type EvidenceEvent,
  PARTITIONS,
  parseSubject,
  readEvent,
  type SignalsRecord,
  STREAMS,
  subjects,
  type TrajectoryRecord,
} from '@headway/contracts';
import type { EventLog, LogMessage } from '@headway/eventlog';
import { createLogger } from '@headway/runtime';
import { eventually } from '@headway/testkit';
import { afterEach } from 'vitest';
import { type Replica, type ReplicaParts, startReplica } from '../src/replica.ts';

export const silent = createLogger('classifier', { write: () => {} } as never);

export const memoryClaims = (): Claims => createMemoryClaims({ now: () => performance.now() });

let holders = 0;

/** A replica on a log, and the way to end it as a crash would: without a last word. */
type Options = Pick<ReplicaParts, 'renewalSeconds' | 'readCommit' | 'judgeEvent' | 'judgmentSeconds'>;

export function replicaOn(log: EventLog, claims: Claims, options: Options = {}) {
  const stopping = new AbortController();
  holders += 1;
  const replica: Replica = startReplica({
    log,
    claims,
    holder: `replica-${holders}`,
    logger: silent,
    signal: stopping.signal,
    ...options,
  });
  return {
    ...replica,
    stop: async () => {
      stopping.abort();
      await replica.ended;
    },
  };
}

/** Starts replicas that are ended after each test of the file. */
export function replicasOfTests() {
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  return {
    start: (log: EventLog, claims = memoryClaims(), options: Options = {}) => {
      const replica = replicaOn(log, claims, options);
      stops.push(replica.stop);
      return replica;
    },
    endLater: (stop: () => Promise<void>) => void stops.push(stop),
  };
}

let ids = 0;

/** An event as ingest accepts it. */
export function reported(work: string, type: string, data: object, more: object = {}): EvidenceEvent {
  ids += 1;
  const read = readEvent({ specversion: '1.0', source: 'test', id: `e-${ids}`, subject: work, type, data, ...more });
  if (!read.ok) throw new Error(read.failure.detail);
  return read.value;
}

export const failed = (work: string, keys: readonly string[], diff: string, gate = 'test'): EvidenceEvent =>
  reported(work, 'headway.gate.attempted', {
    gate,
    outcome: 'failed',
    stage: 'prep',
    exitCode: 1,
    failures: keys.map((key) => ({ key })),
    diff: { hash: diff },
  });

export const passed = (work: string, diff: string, stage = 'bare', gate = 'test'): EvidenceEvent =>
  reported(work, 'headway.gate.attempted', { gate, outcome: 'passed', stage, exitCode: 0, diff: { hash: diff } });

export const claimed = (work: string): EvidenceEvent =>
  reported(work, 'headway.work.claimed', { worker: 'worker-1', orchestrator: 'lead' });

export const replied = (work: string, signal: string, intent = 'AGREE', from = 'worker-1'): EvidenceEvent =>
  reported(work, 'headway.signal.sent', {
    signal: `reply-${ids}`,
    thread: signal,
    inReplyTo: signal,
    intent,
    from,
    to: ['lead'],
    text: '',
  });

/** Puts events of one work into the log as one commit. */
export async function accept(
  log: EventLog,
  tenant: string,
  events: readonly EvidenceEvent[],
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const [first] = events;
  if (first === undefined) throw new Error('a commit has events');
  const answer = await log.append({
    subject: subjects.evidence(tenant, first.subject),
    headers,
    payload: Buffer.from(JSON.stringify({ v: 1, events, contents: events.map(contentDigest) })),
  });
  if (answer.outcome !== 'appended') throw new Error(answer.outcome);
  return answer.position.sequence;
}

export async function tickAll(log: EventLog, id: string): Promise<void> {
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const event = {
      specversion: '1.0',
      id: `${id}-${partition}`,
      source: 'test',
      type: 'headway.monitor.ticked',
      data: {},
    };
    await log.append({
      subject: subjects.tick(partition),
      payload: Buffer.from(JSON.stringify({ v: 1, events: [event] })),
    });
  }
}

const parse = <Record>(message: LogMessage): Record =>
  JSON.parse(Buffer.from(message.payload).toString('utf8')) as Record;

/** Every message of a stream, oldest first. */
export async function everything(log: EventLog, stream: (typeof STREAMS)[keyof typeof STREAMS]): Promise<LogMessage[]> {
  const { lastSequence } = await log.describe(stream);
  const messages: LogMessage[] = [];
  for (let sequence = 1; sequence <= lastSequence; sequence += 1) {
    const message = await log.at(stream, sequence);
    if (message !== null) messages.push(message);
  }
  return messages;
}

/** The newest record of a work once it covers a sequence of EVIDENCE. */
export const coveredRecord = (log: EventLog, tenant: string, work: string, sequence: number) =>
  eventually(
    async () => {
      const message = await log.last(STREAMS.record, subjects.trajectory(tenant, work));
      const record = message === null ? null : parse<TrajectoryRecord>(message);
      return record !== null && record.covered >= sequence ? record : null;
    },
    { what: `a record of ${work} that covers ${sequence}` },
  );

/** Everything that was recorded, unpacked. */
export async function recorded(log: EventLog) {
  const messages = await everything(log, STREAMS.record);
  const of = (kind: 'trajectory' | 'signals') =>
    messages.filter((message) => parseSubject(message.subject)?.kind === kind);
  return {
    assessments: of('trajectory').flatMap((message) =>
      parse<TrajectoryRecord>(message).events.filter((event) => event?.type === 'headway.work.assessed'),
    ),
    signals: of('signals').flatMap((message) => parse<SignalsRecord>(message).events),
  };
}

/** The ids of the signals raised so far, in order. */
export const raisedSignals = async (log: EventLog): Promise<string[]> =>
  (await recorded(log)).signals.flatMap((event) => (event.type === 'headway.signal.raised' ? [event.data.signal] : []));
