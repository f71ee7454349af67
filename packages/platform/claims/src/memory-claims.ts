import type { Clock } from '@headway/kernel';
import { type Claim, type Claims, LISTED_CLAIMS, type ListedClaim } from './claims.ts';

interface Row extends ListedClaim {
  readonly until: number;
}

/** The claim port in memory, for tests and for one process alone. Epochs end with the process. */
export function createMemoryClaims(clock: Clock): Claims {
  const rows = new Map<string, Row>();
  let floor = 0;
  const after = (seconds: number) => clock.now() + seconds * 1_000;
  const isLive = (row: Row) => row.until > clock.now();
  const holds = (claim: Claim) => {
    const row = rows.get(claim.resource);
    return row !== undefined && isLive(row) && !row.waiting && row.epoch === claim.epoch && row.holder === claim.holder;
  };
  const isFree = (row: Row | undefined, holder: string) =>
    row === undefined || !isLive(row) || (row.waiting && row.holder === holder);
  return {
    acquire: async (resources, holder, leaseSeconds) => {
      const granted: Claim[] = [];
      for (const resource of new Set(resources)) {
        const row = rows.get(resource);
        if (!isFree(row, holder)) continue;
        const claim = { resource, holder, epoch: Math.max(row?.epoch ?? 0, floor) + 1 };
        rows.set(resource, { ...claim, waiting: false, until: after(leaseSeconds) });
        granted.push(claim);
      }
      return granted;
    },
    renew: async (claims, leaseSeconds) => {
      const kept = claims.filter(holds);
      for (const claim of kept) rows.set(claim.resource, { ...claim, waiting: false, until: after(leaseSeconds) });
      return kept;
    },
    release: async (claims) => {
      const given = claims.filter(holds);
      for (const claim of given) rows.set(claim.resource, { ...claim, waiting: false, until: 0 });
      return given;
    },
    wait: async (claims, reservedSeconds) =>
      claims.filter(holds).map(({ resource, holder, epoch }) => {
        const claim = { resource, holder, epoch: epoch + 1 };
        rows.set(resource, { ...claim, waiting: true, until: after(reservedSeconds) });
        return claim;
      }),
    list: async (prefix, from = '') =>
      [...rows.values()]
        .filter((row) => isLive(row) && row.resource.startsWith(prefix) && row.resource > from)
        .map(({ resource, epoch, holder, waiting }) => ({ resource, epoch, holder, waiting }))
        .sort((a, b) => (a.resource < b.resource ? -1 : 1))
        .slice(0, LISTED_CLAIMS),
    raiseFloor: async (epoch) => {
      floor = [...rows.values()].reduce((highest, row) => Math.max(highest, row.epoch), Math.max(floor, epoch));
    },
    close: async () => {},
  };
}
