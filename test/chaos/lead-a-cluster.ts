import { type EvidenceCommit, encodeRecord, STREAMS, subjects } from '@headway/contracts';
import { clusterIsSafe, connectJetStreamLog, type JetStreamLog, provisionStreams } from '@headway/eventlog';
import { startNatsCluster, type TestNatsCluster } from '@headway/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Works that are written at once, each by one writer in its order. */
const WRITERS = 50;
/** Times a message is sent again under its id before the writer gives up: a client goes on as long as it must. */
const PATIENCE = 20;

let cluster: TestNatsCluster;
let log: JetStreamLog | undefined;
beforeAll(async () => {
  cluster = await startNatsCluster();
  // Provisioning refuses such a cluster: see the log's own tests.
  if (!clusterIsSafe(cluster.version)) return;
  const access = { servers: cluster.url, name: 'chaos', replicas: 3 };
  await provisionStreams(access);
  await cluster.whole(STREAMS.evidence);
  log = await connectJetStreamLog(access);
});
afterAll(async () => {
  await log?.close();
  await cluster?.stop();
});

/** Writers append while the leader of the stream is killed again and again; each acknowledged event stands once. */
export function describeLeaderKills(size: {
  readonly events: number;
  readonly packed: number;
  readonly kills: number;
}) {
  it(`loses and doubles nothing of ${size.events} events while ${size.kills} leaders are killed`, {
    timeout: 1_200_000,
  }, async (context) => {
    if (log === undefined) return context.skip(`nats-server ${cluster.version} is refused as a cluster`);
    const appending = log;
    const told = new Map<string, number>();
    const state = { next: 0, retried: 0 };
    const messages = Math.ceil(size.events / size.packed);
    const killAt = Array.from({ length: size.kills }, (_, at) => Math.floor((messages * (at + 1)) / (size.kills + 1)));
    const writer = async (number: number) => {
      const subject = subjects.evidence('t', `work-${number}`);
      let last = 0;
      while (state.next < messages) {
        const at = state.next++;
        const message = {
          subject,
          payload: commitOf(at, size.packed),
          messageId: `m-${at}`,
          expectedLastSequence: last,
        };
        for (let attempt = 1; ; attempt += 1) {
          const answer = await appending.append(message);
          if (answer.outcome === 'appended' || answer.outcome === 'duplicate') {
            last = answer.position.sequence;
            told.set(message.messageId, last);
            break;
          }
          // One writer of its work: a conflict could only be with itself.
          if (answer.outcome === 'conflict' || attempt > PATIENCE) throw new Error(JSON.stringify(answer));
          state.retried += 1;
        }
      }
    };
    const killing = async () => {
      for (const point of killAt) {
        while (state.next < point) await new Promise((resolve) => setTimeout(resolve, 5));
        const leader = await cluster.leaderOf(STREAMS.evidence);
        await leader.kill9();
        await cluster.leaderOf(STREAMS.evidence);
        await leader.restart();
        await cluster.whole(STREAMS.evidence);
      }
    };
    const reading = readAll(appending, messages);
    await Promise.all([killing(), ...Array.from({ length: WRITERS }, (_, number) => writer(number))]);
    const read = await reading;
    const times = new Map<string, number>();
    for (const id of read) times.set(id, (times.get(id) ?? 0) + 1);
    const lost = [...told.keys()].filter((id) => !times.has(id)).length * size.packed;
    const doubled = [...times.values()].filter((count) => count > 1).length * size.packed;
    const acknowledged = told.size * size.packed;
    console.log(
      `nats-server ${cluster.version}, 3 replicas: acknowledged ${acknowledged}, in the log ${times.size * size.packed}, ` +
        `doubled ${doubled}, lost ${lost}; leaders killed ${size.kills}, appends answered late ${state.retried}`,
    );
    expect({ acknowledged, lost, doubled }).toEqual({ acknowledged: messages * size.packed, lost: 0, doubled: 0 });
  });
}

const commitOf = (at: number, packed: number): Uint8Array =>
  encodeRecord({
    v: 1,
    events: Array.from({ length: packed }, (_, index) => ({
      specversion: '1.0',
      id: `${at}/${index}`,
      source: 'chaos',
      subject: 'w',
      type: 'headway.checkpoint.recorded',
      data: { by: 'worker' },
    })) as EvidenceCommit['events'],
    contents: [],
  });

/** The message ids in the order of the stream, as a reader sees them that is there all the time. */
async function readAll(from: JetStreamLog, messages: number): Promise<string[]> {
  const stopping = new AbortController();
  const read: string[] = [];
  const filters = [subjects.allEvidence];
  for await (const batch of from.read({
    stream: STREAMS.evidence,
    filters,
    after: 0,
    batch: 500,
    signal: stopping.signal,
  })) {
    for (const { messageId } of batch.messages) read.push(messageId ?? '');
    if (new Set(read).size >= messages && batch.caughtUp) stopping.abort();
  }
  return read;
}
