import { digest } from '@headway/kernel';

/**
 * The version of the readers. It stands in every attempt beside the signature: what was read once is never read again,
 * and signatures of two versions are two different things.
 */
export const SIGNATURE_VERSION = 2;

/**
 * The signature of a gate's failing set: SHA-256 hex over the version, the gate and the distinct keys in text order.
 * `null` where there is no key: an unknown failing set equals nothing, itself included.
 */
export function signatureOf(gate: string, keys: Iterable<string>): string | null {
  const sorted = [...new Set(keys)].sort();
  return sorted.length === 0 ? null : digest('signature', SIGNATURE_VERSION, gate, ...sorted);
}
