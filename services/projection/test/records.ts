import {
  type Assessment,
  contentDigest,
  type EvidenceEvent,
  encodeRecord,
  type RuleId,
  ruleClasses,
  type Signal,
  type SignalEvent,
  subjects,
  type TrajectoryEvent,
} from '@headway/contracts';
import type { NewMessage } from '@headway/eventlog';

/** Messages as ingest and the classifier write them. */

let ids = 0;

export function fact(
  type: EvidenceEvent['type'],
  data: object,
  over: Partial<Pick<EvidenceEvent, 'id' | 'time' | 'incarnation'>> = {},
): EvidenceEvent {
  ids += 1;
  return { specversion: '1.0', id: `e-${ids}`, source: 'test', subject: 'W-1', type, data, ...over } as EvidenceEvent;
}

export const attempt = (over: Partial<Pick<EvidenceEvent, 'id' | 'time' | 'incarnation'>> = {}, data: object = {}) =>
  fact('headway.gate.attempted', { gate: 'test', outcome: 'failed', stage: 'bare', diff: null, ...data }, over);

export const evidence = (work: string, events: readonly EvidenceEvent[], tenant = 'default'): NewMessage => ({
  subject: subjects.evidence(tenant, work),
  payload: encodeRecord({ v: 1, events, contents: events.map(contentDigest) }),
  headers: { 'x-test': 'yes' },
});

export const assessment = (rule: RuleId, over: Partial<Assessment> = {}): Assessment => ({
  incarnation: 1,
  class: ruleClasses[rule],
  rule,
  gate: 'test',
  signature: 'ab'.repeat(32),
  diff: 'd1',
  count: 3,
  reason: `by ${rule}`,
  failures: ['a > b'],
  attempts: 3,
  delta: { added: 4, removed: 2 },
  phase: 'claimed',
  active: true,
  raises: false,
  worker: 'w',
  orchestrator: 'o',
  failing: [],
  policy: 0,
  ...over,
});

export const assessed = (work: string, cause: EvidenceEvent, data: Assessment): TrajectoryEvent => ({
  type: 'headway.work.assessed',
  id: `a-${cause.id}`,
  work,
  cause: { source: cause.source, id: cause.id },
  data,
});

export const trajectory = (
  work: string,
  covered: number,
  events: readonly TrajectoryEvent[],
  tenant = 'default',
): NewMessage => ({
  subject: subjects.trajectory(tenant, work),
  payload: encodeRecord({ v: 1, covered, within: 0, awaits: false, answered: 0, events, state: {} }),
});

export const signals = (covered: number, events: readonly SignalEvent[], tenant = 'default'): NewMessage => ({
  subject: subjects.signals(tenant),
  payload: encodeRecord({ v: 1, covered, events, state: {} }),
});

/** What a reader of the classifier's service says of a record of a work that it cannot handle. */
export const heldBy = (
  reader: 'signaller' | 'feed',
  sequence: number,
  work: string,
  tenant = 'default',
): NewMessage => ({
  subject: subjects.deadLetter(tenant, ''),
  payload: encodeRecord({
    v: 1,
    events: [
      {
        type: 'headway.message.dead-lettered',
        id: `${reader} ${sequence}`,
        data: {
          reader,
          stream: 'RECORD',
          generation: 1,
          sequence,
          subject: subjects.trajectory(tenant, work),
          error: 'a mistake',
          actsKnown: 0,
        },
      },
    ],
  }),
});

export const signallerAt = (sequence: number): NewMessage => ({
  subject: subjects.position('signaller'),
  payload: encodeRecord({ v: 1, positions: { RECORD: sequence } }),
});

export const raised = (signal: string, works: readonly string[], over: Partial<Signal> = {}): SignalEvent => ({
  type: 'headway.signal.raised',
  id: `raised-${signal}`,
  data: {
    signal,
    kind: 'stagnating',
    works,
    incarnation: 1,
    rule: 'same-failure',
    gate: 'test',
    signature: 'ab'.repeat(32),
    diff: 'd1',
    count: 3,
    ordinal: 1,
    to: ['o', 'w'],
    reason: 'test failed 3 times in the same way on the same diff',
    ...over,
  },
});
