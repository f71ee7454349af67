import { ADMIN_USER, authorizationBlock, BUS_USERS, inboxOf, OUTSIDE_USER, SERVICE_USERS } from '@headway/bus-users';
import { STREAMS, type StreamName, subjects } from '@headway/contracts';
import { connectJetStreamLog, DECLARED_STREAMS, type EventLog, provisionStreams } from '@headway/eventlog';
import { startNats, type TestNats } from '@headway/testkit';
import { connect, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * What each user of the bus may do, asked of a real server: what is needed is let through, everything else is refused. The subjects
 * are written out here once more, so that a slip in the declaration shows.
 */
const MAY_PUBLISH: Readonly<Record<string, readonly string[]>> = {
  'evidence.0.default.W-1': ['ingest'],
  'evidence.0.default.W-1.claimed': ['ingest', 'executor'],
  'evidence.0.default.W-1.other': ['ingest'],
  'evidence.policy.default': ['ingest'],
  'evidence.gap': ['ingest'],
  'evidence.0.tick': ['ingest'],
  'record.trajectory.default.W-1': ['classifier'],
  'record.signals.default': ['classifier'],
  'record.deadletter.default.W-1': ['classifier'],
  'record.position.classifier': ['classifier'],
  'record.gap': [],
  'record.goal.default.G-1': [],
  'record.campaign.default.C-1': [],
  'record.unit.default.U-1': [],
  'record.finding.default.F-1': [],
  'effect.default.O-1': ['executor'],
  'trajectory.assessment.default.W-1': ['classifier'],
  'trajectory.signal.default.stagnating.W-1': ['classifier'],
  'act.default': ['projection', 'executor'],
  'anything.else': [],
};
const READS: Readonly<Record<string, readonly string[]>> = {
  EVIDENCE: ['ingest', 'classifier', 'projection'],
  RECORD: ['classifier', 'projection'],
  EFFECTS: ['executor', 'projection'],
  ACTS: ['classifier', 'projection'],
  FEED: [],
};
/** Streams whose state one may ask for: those one reads, and those one writes to. */
const LOOKS: Readonly<Record<string, readonly string[]>> = {
  ...READS,
  EVIDENCE: ['ingest', 'classifier', 'projection', 'executor'],
  RECORD: ['ingest', 'classifier', 'projection'],
  ACTS: ['classifier', 'projection', 'executor'],
  FEED: ['classifier'],
};
const DESTRUCTIVE = ['STREAM.DELETE', 'STREAM.PURGE', 'STREAM.MSG.DELETE', 'STREAM.UPDATE', 'STREAM.CREATE'];

const password = (user: string) => `secret-of-${user}`;
const services = SERVICE_USERS.map(({ name }) => name);

let nats: TestNats;
const connections = new Map<string, NatsConnection>();
beforeAll(async () => {
  const users = authorizationBlock({ passwordOf: (user) => ({ text: password(user) }), open: true });
  nats = await startNats({ configuration: users });
  await provisionStreams({ servers: urlOf(ADMIN_USER), name: 'provision' });
  for (const user of BUS_USERS)
    connections.set(
      user,
      await connect({
        servers: nats.url,
        inboxPrefix: `_INBOX_${user}`,
        ...(user === OUTSIDE_USER ? {} : { user, pass: password(user) }),
      }),
    );
});
afterAll(async () => {
  for (const connection of connections.values()) await connection.close();
  await nats?.stop();
});

const urlOf = (user: string) => nats.url.replace('nats://', `nats://${user}:${password(user)}@`);

const as = (user: string): NatsConnection => {
  const connection = connections.get(user);
  if (connection === undefined) throw new Error(`${user} is not connected`);
  return connection;
};

/** Does something over a user's connection; what the server refused of it has arrived once the server answered a ping. */
async function refusalsOf(user: string, act: (connection: NatsConnection) => void): Promise<string[]> {
  const connection = as(user);
  const refused: string[] = [];
  const status = connection.status();
  const heard = (async () => {
    for await (const event of status)
      if (event.type === 'error' && event.error instanceof PermissionViolationError)
        refused.push(`${event.error.operation} ${event.error.subject}`);
  })();
  act(connection);
  await connection.flush();
  // A status is handed on in a later turn than the one that read it from the socket.
  await new Promise((resolve) => setImmediate(resolve));
  (status as unknown as { stop(): void }).stop();
  await heard;
  return refused;
}

const publishing = (user: string, subject: string) =>
  refusalsOf(user, (connection) => connection.publish(subject, '{}', { reply: `_INBOX_${user}.nobody` }));
const subscribing = (user: string, subject: string) =>
  refusalsOf(user, (connection) => {
    connection.subscribe(subject, { callback: () => {} });
  });

const everyone = [...services, OUTSIDE_USER];
const refusedPublish = (subject: string) => [`publish ${subject}`];

describe.each(everyone)('the bus user %s', (user) => {
  it('publishes the families it writes and no other', async () => {
    for (const [subject, writers] of Object.entries(MAY_PUBLISH))
      expect(await publishing(user, subject), subject).toEqual(writers.includes(user) ? [] : refusedPublish(subject));
  });

  it('looks into the streams it needs and no other', async () => {
    for (const [stream, readers] of Object.entries(LOOKS))
      for (const act of ['STREAM.INFO', 'STREAM.MSG.GET']) {
        const subject = `$JS.API.${act}.${stream}`;
        expect(await publishing(user, subject), subject).toEqual(readers.includes(user) ? [] : refusedPublish(subject));
      }
  });

  it('makes consumers on the streams it reads and no other, and none with a name of its choice', async () => {
    for (const [stream, readers] of Object.entries(READS)) {
      const create = `$JS.API.CONSUMER.CREATE.${stream}`;
      expect(await publishing(user, create), create).toEqual(readers.includes(user) ? [] : refusedPublish(create));
      for (const act of ['CREATE', 'DURABLE.CREATE'])
        expect(await publishing(user, `$JS.API.CONSUMER.${act}.${stream}.mine`)).toEqual(
          refusedPublish(`$JS.API.CONSUMER.${act}.${stream}.mine`),
        );
    }
  });

  it('learns of nobody else’s consumers', async () => {
    for (const subject of ['$JS.API.CONSUMER.NAMES.EVIDENCE', '$JS.API.CONSUMER.LIST.RECORD', '$JS.API.STREAM.LIST'])
      expect(await publishing(user, subject)).toEqual(refusedPublish(subject));
    expect(await subscribing(user, '$JS.EVENT.ADVISORY.>')).toEqual(['subscription $JS.EVENT.ADVISORY.>']);
  });

  it.each(DESTRUCTIVE)('is refused %s', async (act) => {
    for (const stream of Object.keys(READS))
      expect(await publishing(user, `$JS.API.${act}.${stream}`)).toEqual(refusedPublish(`$JS.API.${act}.${stream}`));
  });

  it('hears its own replies, and nobody else’s', async () => {
    for (const other of [...everyone, ADMIN_USER]) {
      const mine = other === user && user !== OUTSIDE_USER;
      expect(await subscribing(user, inboxOf(other))).toEqual(mine ? [] : [`subscription ${inboxOf(other)}`]);
    }
    for (const subject of ['_INBOX.>', '>', 'evidence.>', 'record.>', 'effect.>'])
      expect(await subscribing(user, subject)).toEqual([`subscription ${subject}`]);
  });
});

describe('an outside tool', () => {
  it('hears the feed of its tenant and of no other', async () => {
    for (const subject of ['trajectory.*.default.>', 'trajectory.signal.default.stagnating.>'])
      expect(await subscribing(OUTSIDE_USER, subject)).toEqual([]);
    for (const subject of ['trajectory.>', 'trajectory.*.*.>', 'trajectory.signal.another.>'])
      expect(await subscribing(OUTSIDE_USER, subject)).toEqual([`subscription ${subject}`]);
  });
});

describe('the streams', () => {
  it('are still there after all of this', async () => {
    for (const { name } of DECLARED_STREAMS) {
      const answer = await as(ADMIN_USER).request(`$JS.API.STREAM.INFO.${name}`);
      expect(answer.json()).toMatchObject({ config: { name } });
    }
  });

  it('belong to the administrator alone', async () => {
    for (const act of DESTRUCTIVE) {
      const none = `$JS.API.${act}.NO_SUCH_STREAM`;
      expect(await publishing(ADMIN_USER, none)).toEqual([]);
    }
  });
});

/** Everything a service does with the log, over its own user: the port's own operations, not single subjects. */
describe('real traffic', () => {
  const examples: Readonly<Record<string, string>> = {
    ingest: subjects.evidence('default', 'W-2'),
    classifier: subjects.trajectory('default', 'W-2'),
  };
  const openAs = (user: string): Promise<EventLog> => connectJetStreamLog({ servers: urlOf(user), name: user });
  const declared = (stream: string): stream is StreamName => DECLARED_STREAMS.some(({ name }) => name === stream);

  it.each(Object.entries(examples))(
    'of %s is let through: append, twice, in conflict, and look back',
    async (user, subject) => {
      const log = await openAs(user);
      const stream = user === 'ingest' ? STREAMS.evidence : STREAMS.record;
      const message = { subject, payload: Buffer.from('1'), messageId: `${user}-1`, expectedLastSequence: 0 };
      const first = await log.append(message);
      expect(first).toMatchObject({ outcome: 'appended', position: { stream } });
      expect(await log.append(message)).toMatchObject({ outcome: 'duplicate' });
      expect(await log.append({ ...message, messageId: `${user}-2` })).toMatchObject({ outcome: 'conflict' });
      const sequence = first.outcome === 'appended' ? first.position.sequence : 0;
      expect(await log.last(stream, subject)).toMatchObject({ sequence });
      expect(await log.at(stream, sequence)).toMatchObject({ subject });
      await log.close();
    },
  );

  it('of the feed is let through', async () => {
    const log = await openAs('classifier');
    const subject = subjects.feed.assessment('default', 'W-2');
    expect(await log.append({ subject, payload: Buffer.from('1') })).toMatchObject({ outcome: 'appended' });
    await log.close();
  });

  it.each(services)('of a reader is let through for %s, on each stream it reads', async (user) => {
    const log = await openAs(user);
    for (const [stream, readers] of Object.entries(READS)) {
      if (!readers.includes(user) || !declared(stream)) continue;
      const { lastSequence } = await log.describe(stream);
      const filter = DECLARED_STREAMS.filter(({ name }) => name === stream).map(({ root }) => `${root}.>`);
      const ending = new AbortController();
      const read: number[] = [];
      const options = { stream, filters: filter, after: 0, batch: 10, signal: ending.signal };
      for await (const { messages, caughtUp } of log.read(options)) {
        read.push(...messages.map(({ sequence }) => sequence));
        if (caughtUp) ending.abort();
      }
      expect(read.at(-1) ?? 0).toBe(lastSequence);
      for await (const newest of log.newestOfEach(stream, filter[0] ?? '')) expect(newest.length).toBeGreaterThan(0);
    }
    await log.close();
  });
});
