import { CLAIMS_SOURCE, subjects } from '@headway/contracts';
import type { LogMessage } from '@headway/eventlog';
import { expect, it } from 'vitest';
import { readCommit } from '../src/assess-evidence.ts';
import { claimed, passed } from './fleet.ts';

const said = (subject: string): LogMessage => ({
  stream: 'EVIDENCE',
  generation: 1,
  sequence: 1,
  subject,
  headers: {},
  recordedAt: 0,
  payload: Buffer.from(
    JSON.stringify({
      v: 1,
      events: [{ ...claimed('W-1'), source: CLAIMS_SOURCE }, claimed('W-1'), passed('W-1', 'd')],
    }),
  ),
});

it('who grants claims can say nothing but that a work was claimed: a passed gate from there does not count', () => {
  const read = readCommit(said(subjects.claimed('t', 'W-1')));
  expect(read.map(({ type, source }) => [type, source])).toEqual([['headway.work.claimed', CLAIMS_SOURCE]]);
  expect(readCommit(said(subjects.evidence('t', 'W-1')))).toHaveLength(3);
});
