import { type EvidenceOf, limits, type SignatureReading } from '@headway/contracts';
import { readOutput } from './output.ts';
import type { SignatureRules } from './rules.ts';
import { SIGNATURE_VERSION, signatureOf } from './signature.ts';

type Attempt = EvidenceOf<'headway.gate.attempted'>['data'];
type Failure = NonNullable<Attempt['failures']>[number];

export interface AttemptReading {
  readonly failures: Failure[];
  readonly signature: SignatureReading;
}

/**
 * The failing set of a reported attempt. Failures that the reporter lists win over the output. Only a failed attempt has
 * a signature: a passed one has no failing set, and an errored one gave no verdict.
 */
export function readAttempt(
  attempt: Pick<Attempt, 'gate' | 'outcome'> & Partial<Pick<Attempt, 'failures' | 'output' | 'exitCode'>>,
  rules?: SignatureRules,
): AttemptReading {
  const listed = attempt.failures !== undefined && attempt.failures.length > 0 ? distinct(attempt.failures) : null;
  if (listed !== null) return reading(attempt, listed, null, rules);
  if (attempt.outcome !== 'failed' || attempt.output === undefined) return reading(attempt, [], null, rules);
  const exitCode = attempt.exitCode === 0 ? undefined : attempt.exitCode;
  const read = readOutput({ output: attempt.output, exitCode }, { rules });
  return reading(attempt, read.failures, read.tool, rules);
}

function reading(
  attempt: Pick<Attempt, 'gate' | 'outcome'>,
  failures: Failure[],
  tool: string | null,
  rules?: SignatureRules,
): AttemptReading {
  const value =
    attempt.outcome === 'failed'
      ? signatureOf(
          attempt.gate,
          failures.map((failure) => failure.key),
        )
      : null;
  return {
    failures,
    signature: { version: SIGNATURE_VERSION, value, tool, ...(rules === undefined ? {} : { rules: rules.id }) },
  };
}

function distinct(failures: readonly Failure[]): Failure[] {
  const byKey = new Map<string, Failure>();
  for (const failure of failures) {
    if (byKey.size >= limits.failures) break;
    if (!byKey.has(failure.key)) byKey.set(failure.key, failure);
  }
  return [...byKey.values()];
}
