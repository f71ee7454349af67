import { digest } from '@headway/kernel';

/** Partitions of the evidence. Fixed for ever: a work's history must never move between partitions. */
export const PARTITIONS = 64;

export const STREAMS = {
  evidence: 'EVIDENCE',
  record: 'RECORD',
  effects: 'EFFECTS',
  feed: 'FEED',
  acts: 'ACTS',
} as const;
export type StreamName = (typeof STREAMS)[keyof typeof STREAMS];

/**
 * A caller's id as one token of a subject. Letters, digits, `_` and `-` stand for themselves; every other byte of the
 * UTF-8 text is written `=XX`. The empty text is `=`.
 */
export function encodeToken(text: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(text)) return text;
  if (text === '') return '=';
  let token = '';
  for (const byte of Buffer.from(text, 'utf8')) {
    const char = String.fromCharCode(byte);
    token += /[A-Za-z0-9_-]/.test(char) ? char : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return token;
}

/** The inverse of {@link encodeToken}. */
export function decodeToken(token: string): string {
  if (token === '=') return '';
  if (!token.includes('=')) return token;
  const bytes: number[] = [];
  for (let at = 0; at < token.length; at += 1) {
    if (token[at] === '=') {
      bytes.push(Number.parseInt(token.slice(at + 1, at + 3), 16));
      at += 2;
    } else bytes.push(token.charCodeAt(at));
  }
  return Buffer.from(bytes).toString('utf8');
}

/** The partition of a work: the first 32 bits of a hash of tenant and work, modulo {@link PARTITIONS}. */
export function partitionOf(tenant: string, work: string): number {
  return Number.parseInt(digest('partition', tenant, work).slice(0, 8), 16) % PARTITIONS;
}

export const subjects = {
  evidence: (tenant: string, work: string) =>
    `evidence.${partitionOf(tenant, work)}.${encodeToken(tenant)}.${encodeToken(work)}`,
  /** That a work was claimed, as who grants claims writes it: such a message may say nothing else ({@link mayStandUnder}). */
  claimed: (tenant: string, work: string) => `${subjects.evidence(tenant, work)}.claimed`,
  tick: (partition: number) => `evidence.${partition}.tick`,
  evidenceOfPartition: (partition: number) => `evidence.${partition}.>`,
  /** Changes of a tenant's policies: in the stream of the evidence, so that what holds for which is told by the order. */
  policy: (tenant: string) => `evidence.policy.${encodeToken(tenant)}`,
  allPolicies: 'evidence.policy.>',
  /** A change of a policy that was trimmed out of the evidence; `version` is its number, or `newest` for a copy of the last. */
  keptPolicy: (tenant: string, version: number | 'newest') => `record.policy.${encodeToken(tenant)}.${version}`,
  allKeptPolicies: 'record.policy.>',
  allEvidence: 'evidence.>',
  /** Stands where an acknowledged message was lost with the tail of a stream; `root` is the stream's first token. */
  gap: (root: string) => `${root}.gap`,
  trajectory: (tenant: string, work: string) => `record.trajectory.${encodeToken(tenant)}.${encodeToken(work)}`,
  allTrajectories: 'record.trajectory.>',
  signals: (tenant: string) => `record.signals.${encodeToken(tenant)}`,
  allSignals: 'record.signals.>',
  /** How far a reader got: a hint for where to start again, never what makes it correct. */
  position: (reader: string) => `record.position.${encodeToken(reader)}`,
  /** A transition of one operation. */
  effect: (tenant: string, operation: string) => `effect.${encodeToken(tenant)}.${encodeToken(operation)}`,
  allEffects: 'effect.>',
  /** What an operator did. */
  act: (tenant: string) => `act.${encodeToken(tenant)}`,
  allActs: 'act.>',
  /** A message cannot be handled; `work` is empty where it concerns the signals of the tenant. */
  deadLetter: (tenant: string, work: string) => `record.deadletter.${encodeToken(tenant)}.${encodeToken(work)}`,
  feed: {
    assessment: (tenant: string, work: string) => `trajectory.assessment.${encodeToken(tenant)}.${encodeToken(work)}`,
    signal: (tenant: string, kind: string, workOrPrefix: string) =>
      `trajectory.signal.${encodeToken(tenant)}.${encodeToken(kind)}.${encodeToken(workOrPrefix)}`,
    acknowledgement: (tenant: string, work: string) =>
      `trajectory.acknowledgement.${encodeToken(tenant)}.${encodeToken(work)}`,
  },
} as const;

/** What a subject of EVIDENCE, RECORD or ACTS says, or `null` where it is none of ours. */
export type SubjectMeaning =
  | { kind: 'evidence'; partition: number; tenant: string; work: string; claimed?: true }
  | { kind: 'tick'; partition: number }
  | { kind: 'policy'; tenant: string }
  | { kind: 'trajectory'; tenant: string; work: string }
  | { kind: 'signals'; tenant: string }
  | { kind: 'dead-letter'; tenant: string; work: string }
  | { kind: 'kept-policy'; tenant: string; newest: boolean }
  | { kind: 'act'; tenant: string }
  | { kind: 'position'; reader: string }
  | { kind: 'gap' };

export function parseSubject(subject: string): SubjectMeaning | null {
  const [family, second, third, fourth, fifth, ...rest] = subject.split('.');
  if (rest.length > 0 || second === undefined) return null;
  if (fifth !== undefined && (family !== 'evidence' || fifth !== 'claimed')) return null;
  if (second === 'gap' && third === undefined && (family === 'evidence' || family === 'record')) return { kind: 'gap' };
  if (family === 'evidence' && third !== undefined) {
    if (second === 'policy') return fourth === undefined ? { kind: 'policy', tenant: decodeToken(third) } : null;
    const partition = Number(second);
    if (!Number.isInteger(partition) || partition < 0 || partition >= PARTITIONS) return null;
    if (fourth === undefined) return third === 'tick' ? { kind: 'tick', partition } : null;
    const meaning = { kind: 'evidence', partition, tenant: decodeToken(third), work: decodeToken(fourth) } as const;
    return fifth === undefined ? meaning : { ...meaning, claimed: true };
  }
  if (family === 'act' && third === undefined) return { kind: 'act', tenant: decodeToken(second) };
  if (family !== 'record' || third === undefined) return null;
  if (second === 'trajectory' && fourth !== undefined)
    return { kind: 'trajectory', tenant: decodeToken(third), work: decodeToken(fourth) };
  if (second === 'deadletter' && fourth !== undefined)
    return { kind: 'dead-letter', tenant: decodeToken(third), work: decodeToken(fourth) };
  if (second === 'policy' && fourth !== undefined)
    return { kind: 'kept-policy', tenant: decodeToken(third), newest: fourth === 'newest' };
  if (fourth !== undefined) return null;
  if (second === 'signals') return { kind: 'signals', tenant: decodeToken(third) };
  if (second === 'position') return { kind: 'position', reader: decodeToken(third) };
  return null;
}
