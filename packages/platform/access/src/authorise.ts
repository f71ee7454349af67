import { createHash, timingSafeEqual } from 'node:crypto';
import { limits, type Problem, problem } from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import { type Act, type Caller, may } from './roles.ts';

export const DEFAULT_TENANT = 'default';
/** The header by which the operator names the tenant it works in. */
export const TENANT_HEADER = 'headway-tenant';

/** Longer credentials are refused unread. */
const LONGEST_CREDENTIAL = 4_096;

export interface AccessSettings {
  /** SHA-256 of the operator token; `null` = there is none, and nobody is operator. */
  readonly operatorTokenSha256: Uint8Array | null;
  /** Callers on this machine may report and read in the default tenant without a token. */
  readonly loopbackOpen: boolean;
}

export interface Credentials {
  /** Address of the other end of the connection. */
  readonly peer: string | undefined;
  /** The request says that it was passed on by a proxy: then the peer's address says nothing about the caller. */
  readonly forwarded: boolean;
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  /** The `Headway-Tenant` header. */
  readonly tenantHeader: string | undefined;
}

/**
 * Settles who is asking. Pure.
 *
 * - The operator token as bearer is `operator`, in the tenant that the header names (default `default`).
 * - A caller on this machine without a token is `reporter` and `viewer` in tenant `default`, where that is open.
 * - Anything else is `unauthorised`; a credential that is present but wrong never falls back to being without one.
 */
export function authorise(credentials: Credentials, settings: AccessSettings): Result<Caller, Problem> {
  const tenant = credentials.tenantHeader ?? DEFAULT_TENANT;
  if (!isTenantId(tenant))
    return refused(
      problem(
        'invalid_parameter',
        `The header Headway-Tenant has to be 1 to ${limits.tenantId} characters of A-Z, a-z, 0-9, _ and -.`,
      ),
    );
  if (credentials.authorization !== undefined) {
    if (!isOperatorToken(credentials.authorization, settings.operatorTokenSha256))
      return refused(
        problem(
          'unauthorised',
          'The Authorization header does not hold a token that is known here. Send `Bearer <token>` with the operator token, or leave the header out.',
        ),
      );
    return ok({ tenant, roles: ['operator'] });
  }
  if (!settings.loopbackOpen || credentials.forwarded || !isLoopback(credentials.peer))
    return refused(problem('unauthorised', 'Send the header `Authorization: Bearer <token>` with the operator token.'));
  if (tenant !== DEFAULT_TENANT)
    return refused(
      problem('forbidden', `Without a token only the tenant \`${DEFAULT_TENANT}\` is open. Send the operator token.`),
    );
  return ok({ tenant, roles: ['reporter', 'viewer'] });
}

/** The problem where a caller may not do an act, else `null`. */
export function forbids(caller: Caller, act: Act): Problem | null {
  if (may(caller, act)) return null;
  return problem('forbidden', `\`${act}\` is not allowed to ${caller.roles.join(' and ')}. Use a token that may.`);
}

export const isTenantId = (text: string): boolean => text.length <= limits.tenantId && /^[A-Za-z0-9_-]+$/.test(text);

/** Compares digests of equal length in constant time, so that the time taken tells nothing about the token. */
function isOperatorToken(authorization: string, expected: Uint8Array | null): boolean {
  if (expected === null || authorization.length > LONGEST_CREDENTIAL) return false;
  const token = /^bearer +([!-~]+) *$/i.exec(authorization)?.[1];
  return token !== undefined && timingSafeEqual(tokenDigest(token), expected);
}

/** SHA-256 of a token, as it is kept at rest. */
export const tokenDigest = (token: string): Uint8Array => createHash('sha256').update(token, 'utf8').digest();

/** Whether an address is of this machine itself: 127.0.0.0/8 and ::1, also as IPv4 within IPv6. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.toLowerCase().startsWith('::ffff:') ? address.slice(7) : address;
  return plain === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}
