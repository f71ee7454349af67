import { STREAMS, subjects } from '@headway/contracts';
import { connectJetStreamLog, provisionStreams } from '@headway/eventlog';
import { eventually, startNats } from '@headway/testkit';
import { expect, it } from 'vitest';

/** A reader that has to find out by silence that its pull is over finds out six seconds after it began to wait. */
const BELOW_SILENCE_MS = 4_000;

it('gives what is appended after a pull has expired, without a silence first', async () => {
  const nats = await startNats();
  await provisionStreams({ servers: nats.url, name: 'expiry' });
  const log = await connectJetStreamLog({ servers: nats.url, name: 'expiry', pullExpiresMs: 1_000 });
  const stopping = new AbortController();
  const batches = log.read({
    stream: STREAMS.evidence,
    filters: [subjects.allEvidence],
    after: 0,
    batch: 10,
    signal: stopping.signal,
  });
  let seen = 0;
  const reading = (async () => {
    for await (const { messages } of batches) seen += messages.length;
  })();
  for (let message = 1; message <= 3; message += 1) {
    // Longer than a pull lives, so that each message meets another one.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const answer = await log.append({ subject: subjects.tick(message), payload: Buffer.from('{}') });
    expect(answer.outcome).toBe('appended');
    await eventually(() => seen === message, { within: BELOW_SILENCE_MS, what: `message ${message}` });
  }
  stopping.abort();
  await reading;
  await log.close();
  await nats.stop();
});
