import { canonicalJson, digest } from '@headway/kernel';

/** What an operation is, never who does it: no run, owner, epoch, attempt or model call is part of it. */
export interface OperationIdentity {
  readonly tenant: string;
  readonly kind: string;
  readonly target: string;
  /** The caller's name of the intent. */
  readonly key: string;
  /** From 1. A deliberate repeat is a new generation. */
  readonly generation: number;
}

/** The operation's id: a SHA-256 in hex. Equal keys of two tenants are two operations. */
export const operationId = ({ tenant, kind, target, key, generation }: OperationIdentity): string =>
  digest('operation', tenant, kind, target, key, generation);

/** The digest of canonical inputs, as a SHA-256 in hex: the same id with another digest is another request, and refused. */
export const requestDigest = (inputs: unknown): string => digest('inputs', canonicalJson(inputs));
