import { type Efficiency, type EfficiencyDimension, efficiencyDimensions, type Ledger } from '@headway/contracts';
import { baselines } from '../sizing.ts';

type Compared = { readonly baseline: number; readonly actual: number } | { readonly reason: string };

/**
 * How what a done work has used compares with its own sizing. A dimension without both numbers is listed as missing and
 * never counts as 0; where nothing was recorded there is no number, since nobody may have reported it.
 */
export function efficiencyOf(ledger: Ledger): Efficiency {
  const completion = completionOf(ledger);
  const none = (reason: string): Efficiency => ({
    efficiency: null,
    reason,
    dimensions: [],
    missing: efficiencyDimensions.map((dimension) => ({ dimension, reason })),
    ...completion,
    trajectoryScore: null,
  });
  if (ledger.gateAttempts + ledger.commits + ledger.usageReports === 0)
    return none('No gate attempt, commit or usage was recorded.');
  if (ledger.sizing === null) return none('No claim gave a sizing.');

  const dimensions: Efficiency['dimensions'][number][] = [];
  const missing: Efficiency['missing'][number][] = [];
  for (const dimension of efficiencyDimensions) {
    const compared = compare(ledger, dimension);
    if ('reason' in compared) missing.push({ dimension, reason: compared.reason });
    else dimensions.push({ dimension, ...compared, score: Math.min(1, compared.baseline / compared.actual) });
  }
  const efficiency = geometricMean(dimensions.map(({ score }) => score));
  return {
    efficiency,
    reason: efficiency === null ? 'No dimension has both an estimate and a recorded number.' : null,
    dimensions,
    missing,
    ...completion,
    trajectoryScore: efficiency === null || completion.completion === null ? null : efficiency * completion.completion,
  };
}

function compare(ledger: Ledger, dimension: EfficiencyDimension): Compared {
  const baseline = baselineOf(ledger, dimension);
  if (baseline === null) return { reason: 'The sizing gives no estimate.' };
  if (dimension === 'tokens') {
    if (ledger.usageReports === 0) return { reason: 'No usage was recorded.' };
    if (ledger.tokensUnmeasured > 0)
      return {
        reason: `${ledger.tokensUnmeasured} of ${ledger.usageReports} usage reports did not measure the tokens.`,
      };
  }
  const actual = ledger[dimension];
  return actual === 0 ? { reason: 'None was recorded.' } : { baseline, actual };
}

function baselineOf({ sizing }: Ledger, dimension: EfficiencyDimension): number | null {
  if (sizing === null) return null;
  const [attempts, commits] = baselines(sizing);
  if (dimension === 'tokens') return sizing.tokens ?? null;
  return dimension === 'commits' ? commits : attempts;
}

/** By logarithms, so that many small scores do not underflow; a score of 0 makes it 0. */
function geometricMean(scores: readonly number[]): number | null {
  if (scores.length === 0) return null;
  if (scores.includes(0)) return 0;
  if (scores.every((score) => score === scores[0])) return scores[0] as number;
  return Math.min(1, Math.exp(scores.reduce((sum, score) => sum + Math.log(score), 0) / scores.length));
}

function completionOf(ledger: Ledger): Pick<Efficiency, 'completion' | 'completionReason'> {
  const { criteriaDeclared, criteriaMet } = ledger;
  if (criteriaDeclared === 0) return { completion: 1, completionReason: null };
  if (criteriaMet === null)
    return {
      completion: null,
      completionReason: `${criteriaDeclared} criteria were declared, and \`done\` did not say how many are met.`,
    };
  return { completion: Math.min(1, criteriaMet / criteriaDeclared), completionReason: null };
}
