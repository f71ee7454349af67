import type { IdentityRow } from '../rows.ts';
import type { Changes } from './advance.ts';

/**
 * Changes for messages that stand in the archive already: they are not archived again, and an event is new where its
 * identity stands at the very message it is read from. What could not be read when it was archived takes its identities
 * now.
 */
export const fromArchive = (changes: Changes): Changes => ({
  ...changes,
  archive: async () => {},
  takeIdentities: async (identities) => {
    const standing = await changes.findIdentities(identities.map(({ key }) => key));
    const missing = identities.filter(({ key }) => !standing.has(key));
    const taken = new Set([...(await changes.takeIdentities(missing))].map((at) => missing[at] as IdentityRow));
    const fresh = new Set<number>();
    const seen = new Set<string>();
    for (const [at, identity] of identities.entries()) {
      if (seen.has(identity.key)) continue;
      const stands = standing.get(identity.key);
      const own = stands?.generation === identity.generation && stands.sequence === identity.sequence;
      if (!own && !taken.has(identity)) continue;
      fresh.add(at);
      seen.add(identity.key);
    }
    return fresh;
  },
});
