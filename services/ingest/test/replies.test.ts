import type { Problem } from '@headway/contracts';
import { createMemoryLog, createMemoryStreams } from '@headway/eventlog';
import { afterEach, describe, expect, it } from 'vitest';
import type { SignalDirectory } from '../src/ports.ts';
import { eventsOf, type IngestUnderTest, startIngest } from './ingest-under-test.ts';

const open: IngestUnderTest[] = [];
afterEach(async () => {
  for (const ingest of open.splice(0)) await ingest.stop();
});

async function ingestWith(signals: SignalDirectory, store = createMemoryLog({ streams: createMemoryStreams() })) {
  const ingest = await startIngest({ signals, store });
  open.push(ingest);
  await ingest.untilReady();
  const reply = async (signal: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await ingest.app.inject({
      method: 'POST',
      url: `/v1/signals/${signal}/replies`,
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(body),
    });
    return {
      status: answer.statusCode,
      body: answer.json() as Problem & { reply: string; work: string; verdict: string; position: string },
    };
  };
  return { ...ingest, reply };
}

const recorded = async () => ({ generation: 1, sequence: 0 });
const known: SignalDirectory = {
  recorded,
  threadOf: async (tenant, signal) => (tenant === 'default' && signal === 's-1' ? 'W-1' : null),
};
const agree = { intent: 'AGREE', from: 'lead', text: 'on it' };

describe('a reply to a signal', () => {
  it('becomes evidence of a work of the signal, on its thread, and answers with the position', async () => {
    const ingest = await ingestWith(known);
    const { status, body } = await ingest.reply('s-1', agree);
    expect(status).toBe(202);
    expect(body).toMatchObject({ signal: 's-1', work: 'W-1', verdict: 'accepted', position: 'EVIDENCE:1:1' });
    expect(await eventsOf(ingest.store)).toMatchObject([
      {
        type: 'headway.signal.sent',
        subject: 'W-1',
        data: { thread: 's-1', inReplyTo: 's-1', intent: 'AGREE', from: 'lead', text: 'on it' },
      },
    ]);
  });

  it('that comes again is one: by its key, or by its content where it has none', async () => {
    const ingest = await ingestWith(known);
    await ingest.reply('s-1', agree);
    expect((await ingest.reply('s-1', agree)).body).toMatchObject({ verdict: 'duplicate', position: 'EVIDENCE:1:1' });
    const keyed = { 'idempotency-key': 'k-1' };
    expect((await ingest.reply('s-1', agree, keyed)).body.verdict).toBe('accepted');
    expect((await ingest.reply('s-1', agree, keyed)).body.verdict).toBe('duplicate');
    const other = await ingest.reply('s-1', { ...agree, intent: 'REJECT' }, keyed);
    expect(other).toMatchObject({ status: 409, body: { code: 'identity_conflict' } });
    expect((await eventsOf(ingest.store)).filter(({ type }) => type === 'headway.signal.sent')).toHaveLength(2);
  });

  it('to a signal that there is not is 404, and nothing is written', async () => {
    const ingest = await ingestWith(known);
    const { status, body } = await ingest.reply('s-9', agree);
    expect(status).toBe(404);
    expect(body.code).toBe('signal_not_found');
    expect(await eventsOf(ingest.store)).toEqual([]);
  });

  it('to a signal that the view does not have yet waits for it; a view that stays behind is told, not 404', async () => {
    const store = createMemoryLog({ streams: createMemoryStreams() });
    await store.append({ subject: 'record.signals.default', payload: Buffer.from('{}') });
    let asked = 0;
    const late = await ingestWith({ recorded, threadOf: async () => (++asked > 3 ? 'W-1' : null) }, store);
    expect((await late.reply('s-1', agree)).status).toBe(202);
    const behind = await ingestWith({ recorded, threadOf: async () => null }, store);
    expect(await behind.reply('s-1', agree)).toMatchObject({ status: 504, body: { code: 'not_yet' } });
  });

  it('of a wrong shape says what to change', async () => {
    const ingest = await ingestWith(known);
    expect(await ingest.reply('s-1', { from: 'lead' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_body', pointer: '/intent' },
    });
    expect((await ingest.reply('s-1', { ...agree, inReplyTo: 'older' })).body.code).toBe('invalid_body');
    expect((await ingest.reply('s-1', agree, { 'idempotency-key': 'a b' })).body.code).toBe('invalid_parameter');
    expect((await ingest.reply('s-1', { ...agree, text: 'x'.repeat(200_000) })).status).toBe(413);
  });

  it('while the store is away asks for another try', async () => {
    const ingest = await ingestWith({ recorded, threadOf: () => Promise.reject(new Error('the store is away')) });
    expect(await ingest.reply('s-1', agree)).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
  });
});
