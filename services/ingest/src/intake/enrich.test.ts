import { type EvidenceEvent, limits } from '@headway/contracts';
import { readAttempt, SIGNATURE_VERSION, signatureOf } from '@headway/signatures';
import { describe, expect, it } from 'vitest';
import { cutOutput, enrich } from './enrich.ts';
import { REDACTED } from './redact.ts';

const attempt = (data: object): EvidenceEvent =>
  ({
    specversion: '1.0',
    id: '1',
    source: 'test',
    subject: 'W-1',
    type: 'headway.gate.attempted',
    data: { gate: 'test', outcome: 'failed', stage: 'bare', ...data },
  }) as EvidenceEvent;
const dataOf = (event: EvidenceEvent) => event.data as Record<string, unknown>;

describe('a gate attempt', () => {
  it('gets the signature of its failing set, whatever the reporter claims', () => {
    const claimed = { version: 9, value: 'made up', tool: 'none' };
    const data = dataOf(enrich(attempt({ failures: [{ key: 'b' }, { key: 'a' }], signature: claimed }), readAttempt));
    expect(data.signature).toEqual({ version: SIGNATURE_VERSION, value: signatureOf('test', ['a', 'b']), tool: null });
    expect(data.failures).toEqual([{ key: 'b' }, { key: 'a' }]);
    const passed = dataOf(enrich(attempt({ outcome: 'passed', signature: claimed }), readAttempt));
    expect(passed.signature).toEqual({ version: SIGNATURE_VERSION, value: null, tool: null });
  });

  it('gets the failing set that is read from the whole output, and keeps head and tail of it', () => {
    const lines = Array.from({ length: 4_000 }, (_, line) => `line ${line} of a long and talkative build`);
    lines[2_000] = 'Error: cannot find module zod';
    const data = dataOf(enrich(attempt({ output: lines.join('\n'), exitCode: 1 }), readAttempt));
    const output = data.output as string;
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(limits.outputBytes);
    expect(output).toMatch(/^line 0 of/);
    expect(output).toMatch(/line 3999 of a long and talkative build$/);
    expect(output).toMatch(/\n\[\.\.\. \d+ bytes cut \.\.\.\]\n/);
    expect(output).not.toContain('cannot find module');
    expect(JSON.stringify(data.failures)).toContain('cannot find module');
    expect((data.signature as { value: unknown }).value).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has no secrets in output, messages and keys, also in those that are read from the output', () => {
    const secret = 'hunter2hunter2';
    const listed = enrich(
      attempt({
        failures: [{ key: `login password=${secret}`, message: `got token=${secret}` }],
        output: `password: ${secret}`,
      }),
      readAttempt,
    );
    const read = enrich(
      attempt({ output: `Error: cannot log in with password=${secret}\n`, exitCode: 1 }),
      readAttempt,
    );
    for (const event of [listed, read]) {
      expect(JSON.stringify(event)).not.toContain(secret);
      expect(JSON.stringify(event)).toContain(REDACTED);
    }
  });

  it('keeps empty output, by which a missing verdict is known', () => {
    expect(dataOf(enrich(attempt({ output: '' }), readAttempt)).output).toBe('');
  });

  it('drops messages and not keys where they are too much together', () => {
    const failures = Array.from({ length: 500 }, (_, index) => ({ key: `k${index}`, message: 'm'.repeat(1_000) }));
    const kept = dataOf(enrich(attempt({ failures }), readAttempt)).failures as { key: string; message?: string }[];
    expect(kept.map(({ key }) => key)).toEqual(failures.map(({ key }) => key));
    expect(kept.filter(({ message }) => message !== undefined).length).toBe(131);
  });
});

describe('other events', () => {
  it('have no secrets in notes, reasons and unknown members', () => {
    const secret = 'hunter2hunter2';
    const event = {
      ...attempt({}),
      type: 'headway.checkpoint.recorded',
      data: { by: 'worker', note: `password=${secret}`, newer: { api_key: secret } },
    } as EvidenceEvent;
    expect(JSON.stringify(enrich(event, readAttempt))).not.toContain(secret);
  });
});

describe('cutting output', () => {
  it.each(['€'.repeat(300), '😀'.repeat(300), 'a'.repeat(900), `x${'é'.repeat(500)}`])(
    'never breaks a character nor the limit',
    (text) => {
      for (let most = 90; most < 110; most += 1) {
        const cut = cutOutput(text, most);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(most);
        expect(cut).not.toContain('\uFFFD');
        const [head, tail] = cut.split(/\n\[\.\.\. \d+ bytes cut \.\.\.\]\n/) as [string, string];
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        const said = Number(/\[\.\.\. (\d+) bytes/.exec(cut)?.[1]);
        expect(said).toBe(Buffer.byteLength(text) - Buffer.byteLength(head) - Buffer.byteLength(tail));
      }
    },
  );

  it('leaves what fits', () => {
    expect(cutOutput('€'.repeat(10), 30)).toBe('€'.repeat(10));
    expect(cutOutput('€'.repeat(11), 30)).not.toBe('€'.repeat(11));
  });
});
