import type { Claim, Claims } from '@headway/claims';
import { PARTITIONS } from '@headway/contracts';
import type { Logger } from './ports.ts';

/** A lease outlives this many missed renewals. */
export const LEASE_SECONDS = 15;
export const RENEWAL_SECONDS = 5;

const MEMBER = 'classifier/member/';
const PARTITION = 'classifier/partition/';
const SIGNALLER = 'classifier/signaller';
const FEED = 'classifier/feed';

/** What one replica of the classifier does at present. */
export interface Duties {
  readonly partitions: ReadonlySet<number>;
  readonly signaller: boolean;
  readonly feed: boolean;
}

export const noDuties: Duties = { partitions: new Set(), signaller: false, feed: false };

export const sameDuties = (a: Duties, b: Duties): boolean =>
  a.signaller === b.signaller && a.feed === b.feed && setsEqual(a.partitions, b.partitions);

const setsEqual = (a: ReadonlySet<number>, b: ReadonlySet<number>) => a.size === b.size && a.isSubsetOf(b);

/**
 * Shares the partitions among the live replicas, evenly to within one, and gives the signaller and the feed to one of
 * them. Ownership only saves work: two owners at once refuse each other's records by their expected sequences. While
 * the claims cannot be reached nobody else can take over either, so the duties stay as they are.
 */
export interface Ownership {
  /** Renews, gives back and takes as the number of replicas asks for. Call it every {@link RENEWAL_SECONDS}. */
  review(): Promise<Duties>;
  /** Gives everything back, so that others need not wait for the leases to end. */
  resign(): Promise<void>;
}

export function createOwnership(claims: Claims, holder: string, logger: Logger): Ownership {
  let held: readonly Claim[] = [];
  let duties = noDuties;

  const review = async () => {
    held = await claims.renew(held, LEASE_SECONDS);
    if (!held.some((claim) => claim.resource === MEMBER + holder))
      held = [...held, ...(await claims.acquire([MEMBER + holder], holder, LEASE_SECONDS))];
    const members = Math.max(1, (await claims.list(MEMBER)).length);
    await shareOut(Math.ceil(PARTITIONS / members));
    return dutiesOf(held);
  };

  const shareOut = async (share: number) => {
    const own = held.filter((claim) => claim.resource.startsWith(PARTITION));
    const surplus = own.slice(share);
    if (surplus.length > 0) await claims.release(surplus);
    held = held.filter((claim) => !surplus.includes(claim));
    const wanted = [SIGNALLER, FEED].filter((resource) => !held.some((claim) => claim.resource === resource));
    if (wanted.length > 0) held = [...held, ...(await claims.acquire(wanted, holder, LEASE_SECONDS))];
    const room = share - (own.length - surplus.length);
    if (room > 0) held = [...held, ...(await takeFree(room))];
  };

  const takeFree = async (room: number) => {
    const taken = new Set((await claims.list(PARTITION)).map((claim) => claim.resource));
    const free = Array.from({ length: PARTITIONS }, (_, partition) => `${PARTITION}${partition}`)
      .filter((resource) => !taken.has(resource))
      .slice(0, room);
    return free.length === 0 ? [] : claims.acquire(free, holder, LEASE_SECONDS);
  };

  return {
    review: async () => {
      try {
        duties = await review();
      } catch (error) {
        logger.warn({ err: error }, 'the claims cannot be reached; the duties stay as they are');
      }
      return duties;
    },
    resign: async () => {
      const last = held;
      held = [];
      duties = noDuties;
      await claims.release(last).catch((error: unknown) => logger.warn({ err: error }, 'claims were not given back'));
    },
  };
}

function dutiesOf(held: readonly Claim[]): Duties {
  const resources = held.map((claim) => claim.resource);
  return {
    partitions: new Set(
      resources.filter((name) => name.startsWith(PARTITION)).map((name) => Number(name.slice(PARTITION.length))),
    ),
    signaller: resources.includes(SIGNALLER),
    feed: resources.includes(FEED),
  };
}
