import { digest } from '@headway/kernel';

export const SIGNATURE_VERSION = 1;

/** SHA-256 hex of a gate and its failing set, in any order and with repeats; `null` for the empty set. */
export function signatureOf(gate: string, keys: readonly string[]): string | null {
  if (keys.length === 0) return null;
  return digest('signature', SIGNATURE_VERSION, gate, ...[...new Set(keys)].sort());
}
