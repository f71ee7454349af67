import type { Clock } from '@headway/kernel';
import { type Claim, type Claims, LISTED_CLAIMS } from './claims.ts';

interface Row extends Claim {
  readonly until: number;
}

/** The claim port in memory, for tests and for one process alone. Epochs end with the process. */
export function createMemoryClaims(clock: Clock): Claims {
  const rows = new Map<string, Row>();
  const isLive = (row: Row) => row.until > clock.now();
  const holds = (claim: Claim) => {
    const row = rows.get(claim.resource);
    return row !== undefined && isLive(row) && row.epoch === claim.epoch && row.holder === claim.holder;
  };
  const shown = ({ resource, epoch, holder }: Row): Claim => ({ resource, epoch, holder });
  return {
    acquire: async (resources, holder, leaseSeconds) => {
      const granted: Claim[] = [];
      for (const resource of new Set(resources)) {
        const row = rows.get(resource);
        if (row !== undefined && isLive(row)) continue;
        const claim = { resource, holder, epoch: (row?.epoch ?? 0) + 1 };
        rows.set(resource, { ...claim, until: clock.now() + leaseSeconds * 1_000 });
        granted.push(claim);
      }
      return granted;
    },
    renew: async (claims, leaseSeconds) => {
      const kept = claims.filter(holds);
      for (const claim of kept) rows.set(claim.resource, { ...claim, until: clock.now() + leaseSeconds * 1_000 });
      return kept;
    },
    release: async (claims) => {
      for (const claim of claims.filter(holds)) rows.set(claim.resource, { ...claim, until: 0 });
    },
    list: async (prefix) =>
      [...rows.values()]
        .filter((row) => isLive(row) && row.resource.startsWith(prefix))
        .map(shown)
        .sort((a, b) => (a.resource < b.resource ? -1 : 1))
        .slice(0, LISTED_CLAIMS),
    close: async () => {},
  };
}
