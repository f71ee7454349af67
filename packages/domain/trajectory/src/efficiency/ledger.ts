import { type EvidenceEvent, type Ledger, OPEN_DELEGATIONS, type OpenDelegation } from '@headway/contracts';

/**
 * The ledger after one more fact about the work, whatever its incarnation: what was spent was spent. `current`: the fact
 * belongs to the newest incarnation; `opens`: it opens that one.
 */
export function countEvidence(
  ledger: Ledger,
  event: EvidenceEvent,
  { current, opens }: { readonly current: boolean; readonly opens: boolean },
): Ledger {
  const base: Ledger = opens ? { ...ledger, delegations: [], moreDelegations: 0, criteriaMet: null } : ledger;
  switch (event.type) {
    case 'headway.gate.attempted':
      return { ...base, gateAttempts: base.gateAttempts + 1 };
    case 'headway.commit.recorded':
      return { ...base, commits: base.commits + 1 };
    case 'headway.usage.recorded':
      return countUsage(base, event.data);
    case 'headway.work.claimed':
      if (!current) return base;
      return {
        ...base,
        sizing: event.data.sizing ?? base.sizing,
        criteriaDeclared: event.data.criteria?.length ?? base.criteriaDeclared,
      };
    case 'headway.work.done':
      return current ? { ...base, criteriaMet: event.data.criteriaMet ?? base.criteriaMet } : base;
    case 'headway.delegation.opened':
      return current
        ? openDelegation(base, {
            delegation: event.data.delegation,
            child: event.data.child ?? null,
            since: event.time ?? null,
          })
        : base;
    case 'headway.delegation.completed':
      return current ? completeDelegation(base, event.data.delegation) : base;
    default:
      return base;
  }
}

type Usage = Extract<EvidenceEvent, { type: 'headway.usage.recorded' }>['data'];

function countUsage(ledger: Ledger, { inputTokens, outputTokens, costUsd }: Usage): Ledger {
  const measured = typeof inputTokens === 'number' && typeof outputTokens === 'number';
  return {
    ...ledger,
    usageReports: ledger.usageReports + 1,
    tokens: ledger.tokens + (measured ? inputTokens + outputTokens : 0),
    tokensUnmeasured: ledger.tokensUnmeasured + (measured ? 0 : 1),
    costUnmeasured: ledger.costUnmeasured + (typeof costUsd === 'number' ? 0 : 1),
  };
}

function openDelegation(ledger: Ledger, opened: OpenDelegation): Ledger {
  if (ledger.delegations.some(({ delegation }) => delegation === opened.delegation)) return ledger;
  return ledger.delegations.length < OPEN_DELEGATIONS
    ? { ...ledger, delegations: [...ledger.delegations, opened] }
    : { ...ledger, moreDelegations: ledger.moreDelegations + 1 };
}

/** One that is not listed is one of those that are only counted. */
function completeDelegation(ledger: Ledger, completed: string): Ledger {
  const delegations = ledger.delegations.filter(({ delegation }) => delegation !== completed);
  if (delegations.length < ledger.delegations.length) return { ...ledger, delegations };
  return { ...ledger, moreDelegations: Math.max(0, ledger.moreDelegations - 1) };
}
