import type { Problem } from '@headway/contracts';
import type { Standing } from './known.ts';

/** How it ended for an identity that a request has claimed. */
export type Outcome =
  | {
      readonly kind: 'stands';
      readonly standing: Standing /** It was not in the log before. */;
      readonly fresh: boolean;
    }
  | { readonly kind: 'failed'; readonly problem: Problem };

export interface Claim {
  readonly key: string;
  readonly content: string;
  settle(outcome: Outcome): void;
}

/**
 * The identities that requests of this process are working on. Whoever claims one first decides it; others wait for how
 * it ended. A request makes all its claims in one go and settles each of them whatever happens, without waiting for
 * another's: so nobody waits in a circle.
 */
export function createInFlight() {
  const claims = new Map<string, Promise<Outcome>>();
  return {
    get size() {
      return claims.size;
    },
    /** The claim, or the outcome to wait for where someone else holds it. */
    claim(key: string, content: string): { claim: Claim } | { other: Promise<Outcome> } {
      const other = claims.get(key);
      if (other !== undefined) return { other };
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      claims.set(key, promise);
      const settle = (outcome: Outcome) => {
        claims.delete(key);
        resolve(outcome);
      };
      return { claim: { key, content, settle } };
    },
  };
}
export type InFlight = ReturnType<typeof createInFlight>;
