import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectJetStreamLog, provisionStreams } from '@headway/eventlog';
import { startNats, type TestNats } from '@headway/testkit';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../src/provision.ts', import.meta.url));

describe('provisioning', () => {
  let nats: TestNats;
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats?.stop());

  const ask = async <Answer>(subject: string, body: object = {}): Promise<Answer> => {
    const connection = await connect({ servers: nats.url });
    try {
      return (await connection.request(subject, JSON.stringify(body))).json<Answer>();
    } finally {
      await connection.close();
    }
  };
  const provision = async (environment: Record<string, string>) => {
    const env = { PATH: process.env.PATH, ...environment };
    const done = await run(process.execPath, [program], { env }).catch((error) => error);
    return { code: done.code ?? 0, stdout: done.stdout, stderr: done.stderr };
  };

  it('makes the streams, and changes nothing the second time', async () => {
    const env = { HEADWAY_NATS_URL: nats.url };
    const all = (change: string) =>
      ['EVIDENCE', 'RECORD', 'EFFECTS', 'FEED', 'ACTS'].map((stream) => `${stream} ${change}\n`).join('');
    expect(await provision(env)).toMatchObject({ code: 0, stdout: all('created') });
    expect(await provision(env)).toMatchObject({ code: 0, stdout: all('unchanged') });
    type Info = { config: Record<string, unknown> };
    const { config: record } = await ask<Info>('$JS.API.STREAM.INFO.RECORD');
    expect(record).toMatchObject({
      subjects: ['record.>'],
      storage: 'file',
      discard: 'new',
      max_age: 0,
      max_msgs_per_subject: -1,
      duplicate_window: 120e9,
      allow_direct: true,
      num_replicas: 1,
      description: 'generation 1',
    });
    const { config: feed } = await ask<Info>('$JS.API.STREAM.INFO.FEED');
    expect(feed).toMatchObject({ subjects: ['trajectory.>'], discard: 'old', max_age: 7 * 86_400e9 });
  });

  it('brings settings back without touching messages or generation', async () => {
    const access = { servers: nats.url, name: 'provision test' };
    await provisionStreams(access);
    const log = await connectJetStreamLog(access);
    await log.append({ subject: 'trajectory.assessment.t.w', payload: new Uint8Array(3) });
    const { config } = await ask<{ config: object }>('$JS.API.STREAM.INFO.FEED');
    await ask('$JS.API.STREAM.UPDATE.FEED', {
      ...config,
      max_age: 60e9,
      duplicate_window: 60e9,
      description: 'generation 4',
    });
    expect(await provisionStreams(access)).toContainEqual({ stream: 'FEED', change: 'updated' });
    const now = await ask<{ config: object }>('$JS.API.STREAM.INFO.FEED');
    expect(now.config).toMatchObject({ max_age: 7 * 86_400e9, duplicate_window: 120e9, description: 'generation 4' });
    expect(await log.describe('FEED')).toMatchObject({ generation: 4, lastSequence: 1 });
    await log.close();
  });

  it('refuses, and tells, what a stream cannot be changed to', async () => {
    const config = { name: 'ACTS', subjects: ['act.>'], storage: 'memory', retention: 'limits' };
    await ask('$JS.API.STREAM.DELETE.ACTS');
    await ask('$JS.API.STREAM.CREATE.ACTS', config);
    expect(await provision({ HEADWAY_NATS_URL: nats.url })).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('ACTS is left as it is: its storage cannot be changed to file'),
    });
    await ask('$JS.API.STREAM.DELETE.ACTS');
    const [last] = (await provisionStreams({ servers: nats.url, name: 'provision test' })).filter(
      ({ stream }) => stream === 'ACTS',
    );
    expect(last).toMatchObject({ change: 'created' });
  });

  it('says what to set when it is not told where the server is', async () => {
    expect(await provision({})).toMatchObject({ code: 2, stderr: expect.stringContaining('HEADWAY_NATS_URL') });
    expect(await provision({ HEADWAY_NATS_URL: nats.url, HEADWAY_NATS_REPLICAS: '2' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('1, 3 or 5'),
    });
  });
});
