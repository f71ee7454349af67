import type { EffectRecord } from '@headway/contracts';
import { ok, type Result, refused, sha256 } from '@headway/kernel';

/** The hash of one version of an operation: over the hash before it, the version and the entry as it stands. */
export const historyHash = (previous: string | null, version: number, entry: string): string =>
  sha256(`${previous ?? ''}\n${version}\n${entry}`);

export interface BrokenHistory {
  readonly version: number;
  readonly reason: string;
}

/**
 * Whether a history is whole: versions from 1 without gaps, each made over the one before, each entry as it was when its
 * hash was made. Answers with the hash of the newest version, which tells whether two copies are the same history.
 */
export function verifyHistory(
  operation: string,
  records: readonly EffectRecord[],
): Result<string | null, BrokenHistory> {
  let previous: string | null = null;
  let expected = 1;
  for (const record of records) {
    const broken = (reason: string) => refused({ version: record.version, reason });
    if (record.operation !== operation) return broken('it is of another operation');
    if (record.version !== expected) return broken(`version ${expected} is missing`);
    if (record.previous !== previous) return broken('it does not follow the version before');
    if (historyHash(previous, record.version, record.entry) !== record.hash) return broken('its content was changed');
    previous = record.hash;
    expected += 1;
  }
  return ok(previous);
}
