import type { Verdict } from '@headway/contracts';

/** The authority row of an operation's subject, as it is read under lock. */
export interface Authority {
  readonly verdict: Verdict;
  readonly revoked: boolean;
  /** `null` = the authority does not depend on a plan. */
  readonly planRevision: string | null;
  /** Effects that may be started under it in all, and those that were. */
  readonly maximum: number;
  readonly used: number;
  /** Fingerprints as they were observed for the verdict, by name. */
  readonly fingerprints: Readonly<Record<string, string>>;
}

/** What the operation declared when it was asked for. */
export interface Declared {
  readonly planRevision: string | null;
  readonly assumptions: Readonly<Record<string, string>>;
  /** An attempt was started before: the effect is counted already. */
  readonly counted: boolean;
}

export type AuthorityJudgement =
  | { readonly holds: 'True' }
  | { readonly holds: 'False'; readonly reason: string }
  | { readonly holds: 'Unknown'; readonly reason: string };

/**
 * Whether an operation may be admitted, or started, under an authority (I7, I8). `False` comes from a verdict alone: all
 * that has merely changed makes the operation wait, since it can be judged again.
 */
export function judgeAuthority(authority: Authority | null, declared: Declared): AuthorityJudgement {
  const unknown = (reason: string): AuthorityJudgement => ({ holds: 'Unknown', reason });
  if (authority === null) return unknown('nothing authorises it');
  if (authority.revoked) return unknown('the approval was revoked');
  if (authority.verdict === 'False') return { holds: 'False', reason: 'the verdict is False' };
  if (authority.verdict === 'Unknown') return unknown('the verdict is Unknown');
  if (authority.planRevision !== null && authority.planRevision !== declared.planRevision)
    return unknown('the plan was superseded');
  const moved = Object.entries(declared.assumptions).find(([name, value]) => authority.fingerprints[name] !== value);
  if (moved !== undefined) return unknown(`the assumption ${JSON.stringify(moved[0])} moved`);
  if (!declared.counted && authority.used >= authority.maximum)
    return unknown('the approved number of effects is used up');
  return { holds: 'True' };
}
