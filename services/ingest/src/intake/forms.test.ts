import { limits } from '@headway/contracts';
import { describe, expect, it } from 'vitest';
import { type Item, mediaTypes, readForm } from './forms.ts';

const event = { specversion: '1.0', id: '1', source: 's', type: 't', subject: 'W', data: { a: 1 } };
const read = (mediaType: string | null, body: string | Buffer, headers: Record<string, string> = {}) =>
  readForm({ mediaType, headers, body: Buffer.from(body) });
const raws = (answer: ReturnType<typeof readForm>) =>
  answer.ok ? answer.value.map((item: Item) => (item.ok ? item.raw : item.problem.code)) : answer.failure.code;

describe('the four forms', () => {
  it('reads one structured event', () => {
    expect(raws(read(mediaTypes.structured, JSON.stringify(event)))).toEqual([event]);
    expect(raws(read(mediaTypes.json, JSON.stringify(event)))).toEqual([event]);
  });

  it('reads a batch', () => {
    expect(raws(read(mediaTypes.batch, JSON.stringify([event, 3, null])))).toEqual([event, 3, null]);
    expect(raws(read(mediaTypes.json, JSON.stringify([event])))).toEqual([event]);
  });

  it('reads lines, with the number of each that is malformed, and past a byte order mark', () => {
    const answer = read(mediaTypes.lines, `\uFEFF${JSON.stringify(event)}\r\n\n{"a":\n  \n${JSON.stringify(event)}`);
    expect(raws(answer)).toEqual([event, 'malformed_json', event]);
    expect(JSON.stringify(answer)).toContain('Line 3 is not valid JSON');
  });

  it('reads one event from headers and body', () => {
    const headers = {
      'ce-specversion': '1.0',
      'ce-id': 'a%20b',
      'ce-source': '"quoted"',
      'ce-type': 't',
      'ce-subject': 'W-%E2%82%AC',
      'ce-incarnation': '3',
      accept: '*/*',
    };
    expect(raws(read(mediaTypes.json, '{"a":1}', headers))).toEqual([
      { specversion: '1.0', id: 'a b', source: 'quoted', type: 't', subject: 'W-€', incarnation: 3, data: { a: 1 } },
    ]);
    expect(raws(read(null, '', { ...headers, 'ce-incarnation': 'x' }))).toMatchObject([{ incarnation: 'x' }]);
    expect(raws(read(null, '', { ...headers, 'ce-id': '%E2%82' }))).toBe('invalid_event');
  });
});

describe('what cannot be taken apart', () => {
  it.each([
    ['an unknown media type', 'text/xml', '<a/>', 'unsupported_media_type'],
    ['no media type', null, '{}', 'unsupported_media_type'],
    ['malformed JSON', mediaTypes.structured, '{"a":', 'malformed_json'],
    ['broken UTF-8', mediaTypes.structured, Buffer.from([0x22, 0xff, 0x22]), 'malformed_json'],
    ['no batch', mediaTypes.batch, '{}', 'malformed_json'],
    ['an empty batch', mediaTypes.batch, '[]', 'invalid_event'],
    ['lines with nothing in them', mediaTypes.lines, '\n\n', 'invalid_event'],
    ['too many events', mediaTypes.batch, JSON.stringify(Array.from({ length: 1_001 }, () => 0)), 'batch_too_long'],
    ['too many lines', mediaTypes.lines, '0\n'.repeat(1_001), 'batch_too_long'],
    ['too many bytes', mediaTypes.lines, Buffer.alloc(limits.batchBytes + 1, 0x30), 'body_too_large'],
  ])('%s', (_what, mediaType, body, code) => expect(raws(read(mediaType, body))).toBe(code));

  it('takes exactly as many as the limit says', () => {
    expect(raws(read(mediaTypes.lines, '0\n'.repeat(1_000)))).toHaveLength(1_000);
    expect(raws(read(mediaTypes.batch, JSON.stringify(Array.from({ length: 1_000 }, () => 0))))).toHaveLength(1_000);
  });

  it('says where JSON breaks and nothing of what stands there', () => {
    const answer = JSON.stringify(read(mediaTypes.json, '{"password":"hunter2" x}'));
    expect(answer).toContain('at character 22');
    expect(answer).not.toContain('hunter2');
  });

  it('refuses single events: base64 data, a line that is too long, a line that is no UTF-8', () => {
    expect(raws(read(mediaTypes.batch, JSON.stringify([{ ...event, data_base64: 'e30=' }, event])))).toEqual([
      'invalid_event',
      event,
    ]);
    const long = `{"a":"${'x'.repeat(limits.eventBytes)}"}\n1`;
    expect(raws(read(mediaTypes.lines, long))).toEqual(['event_too_large', 1]);
    expect(raws(read(mediaTypes.lines, Buffer.from([0x22, 0xff, 0x22, 0x0a, 0x31])))).toEqual(['malformed_json', 1]);
  });
});
