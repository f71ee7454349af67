import { STREAMS } from '@headway/contracts';
import { createMemoryLog, createMemoryStreams, type EventLog, type NewMessage } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { expect, it } from 'vitest';
import {
  accept,
  claimed,
  everything,
  failed,
  memoryClaims,
  passed,
  recorded,
  replicaOn,
  replicasOfTests,
  replied,
} from './fleet.ts';

const { endLater } = replicasOfTests();

const WORKS = ['A', 'B', 'C', 'D'];

/**
 * A log for a process that dies at its n-th write: that one stands or does not, and it never hears the answer, nor of
 * anything after it.
 */
function dyingAt(log: EventLog, n: number, stands: boolean) {
  let writes = 0;
  let die = () => {};
  const died = new Promise<void>((resolve) => {
    die = resolve;
  });
  const never = new Promise<never>(() => {});
  const dying: EventLog = {
    ...log,
    append: async (message: NewMessage) => {
      writes += 1;
      if (writes < n) return log.append(message);
      if (writes === n && stands) await log.append(message);
      die();
      return never;
    },
  };
  return { dying, died, writes: () => writes };
}

/** Four works stagnate alike, one of them in a way of its own too; one gets through; the shared failure is answered. */
async function story(log: EventLog): Promise<void> {
  for (const work of WORKS) await accept(log, 't', [claimed(work), failed(work, ['x'], `diff of ${work}`)]);
  await accept(
    log,
    't',
    Array.from({ length: 3 }, () => failed('A', ['own'], 'diff of A', 'lint')),
  );
  await accept(log, 't', [passed('D', 'fixed')]);
  for (const work of ['B', 'C'])
    await accept(log, 't', [failed(work, ['x'], `diff of ${work}`), failed(work, ['x'], `diff of ${work}`)]);
}

/** Which signals are open at the end, and every id that was ever raised. */
async function outcome(log: EventLog) {
  const { signals } = await recorded(log);
  const open = new Map<string, string>();
  const raised: string[] = [];
  for (const event of signals) {
    if (event.type === 'headway.signal.raised') {
      raised.push(event.data.signal);
      open.set(event.data.signal, `${event.data.kind} ${event.data.gate}`);
    } else if (event.type !== 'headway.signal.joined' && event.type !== 'headway.signal.left')
      open.delete(event.data.signal);
  }
  return { open: [...open.values()].sort(), raised, ids: signals.map(({ id }) => id), shared: sharedOf(signals) };
}
type Signals = Awaited<ReturnType<typeof recorded>>['signals'];
const sharedOf = (signals: Signals) =>
  signals.flatMap((event) =>
    event.type === 'headway.signal.raised' && event.data.kind === 'shared-failure' ? [event.data.signal] : [],
  );

/** Everything of the log is judged: the last evidence of every work is covered, and so is the last assessment. */
async function settled(log: EventLog, open: readonly string[]): Promise<void> {
  await eventually(
    async () => {
      expect((await outcome(log)).open).toEqual(open);
      return true;
    },
    { what: `the open signals ${open.join(', ')}` },
  );
}

/** What other tools hear, by subject and event id. */
async function heard(log: EventLog): Promise<string[]> {
  const messages = await everything(log, STREAMS.feed);
  return messages.filter(({ subject }) => subject.includes('.signal.')).map(({ messageId }) => messageId ?? '');
}

const OPEN = ['shared-failure test', 'stagnating lint'];
const AFTER_REPLY = ['stagnating lint'];

async function play(log: EventLog, mortal: EventLog, died: Promise<void> | null): Promise<void> {
  const claims = memoryClaims();
  let replica = replicaOn(mortal, claims, { renewalSeconds: 0.05 });
  void died?.then(() => {
    // Nothing of the dead one goes on; the other has claims of its own, as if the leases had ended.
    void replica.stop();
    replica = replicaOn(log, memoryClaims());
  });
  endLater(() => replica.stop());
  await story(log);
  await settled(log, OPEN);
  const [shared] = (await outcome(log)).shared;
  await accept(log, 't', [replied('B', shared ?? '', 'AGREE', 'lead')]);
  await settled(log, AFTER_REPLY);
  const { ids, raised } = await outcome(log);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(raised).size).toBe(raised.length);
  await eventually(async () => new Set(await heard(log)).size === new Set(raised).size, { what: 'the announcements' });
  await replica.stop();
}

it('killed at any of its writes, standing or lost: the same open signals at the end, none twice', {
  timeout: 120_000,
}, async () => {
  const whole = createMemoryLog({ streams: createMemoryStreams() });
  const counted = dyingAt(whole, Number.POSITIVE_INFINITY, true);
  await play(whole, counted.dying, null);
  const writes = counted.writes();
  expect(writes).toBeGreaterThan(20);
  for (let n = 1; n <= writes; n += 1)
    for (const stands of [true, false]) {
      const log = createMemoryLog({ streams: createMemoryStreams() });
      const { dying, died } = dyingAt(log, n, stands);
      await play(log, dying, died);
    }
});

it('two that each believe themselves alone: the same open signals at the end, none twice', {
  timeout: 60_000,
}, async () => {
  const streams = createMemoryStreams();
  const log = createMemoryLog({ streams });
  // With claims of its own each takes every duty, as after a pause that outlasted the leases.
  const rivals = [1, 2].map(() => replicaOn(createMemoryLog({ streams }), memoryClaims()));
  for (const rival of rivals) endLater(() => rival.stop());
  for (let round = 0; round < 10; round += 1) {
    await story(log);
    await settled(log, OPEN);
    const shared = (await outcome(log)).shared.at(-1);
    await accept(log, 't', [replied('B', shared ?? '', 'AGREE', 'lead')]);
    await settled(log, AFTER_REPLY);
    // All get through, so that the next round begins anew.
    for (const work of WORKS) await accept(log, 't', [claimed(work)]);
    await settled(log, []);
  }
  const { ids, raised } = await outcome(log);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(raised).size).toBe(raised.length);
  const { assessments } = await recorded(log);
  expect(new Set(assessments.map(({ id }) => id)).size).toBe(assessments.length);
  expect(rivals.reduce((sum, rival) => sum + rival.fenced(), 0)).toBeGreaterThan(0);
});
