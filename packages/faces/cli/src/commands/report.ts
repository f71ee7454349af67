import type { FleetReport, Measured, WorkEfficiency } from '@headway/contracts';
import { type Context, failed, print, printJson } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { readOwnWrites } from '../read-own-writes.ts';
import { secondsText } from '../signal-text.ts';
import { columns } from '../table.ts';

export interface FleetReportOptions {
  readonly days?: number;
  readonly limit?: number;
  readonly cursor?: string;
  readonly after?: string;
  readonly json?: boolean;
}

/** The fleet report. A number that is not known is told with the reason, and is never 0. */
export async function report(context: Context, options: FleetReportOptions): Promise<number> {
  const { days, limit, cursor } = options;
  const answer = await readOwnWrites(context, options.after, (after) =>
    context.reader.fleetReport({ after, days, limit, cursor }),
  );
  if (!answer.ok) return failed(context, answer.failure);
  if (options.json === true) printJson(context, answer.value);
  else for (const line of linesOf(answer.value)) print(context, line);
  return exitCodes.ok;
}

function linesOf(report: FleetReport): string[] {
  const { window, works, signals, acknowledgement, cost, liveAtOnce, efficiency } = report;
  return [
    `The last ${window.days} days, up to ${window.to}`,
    '',
    `Works: ${works.total}${works.total === 0 ? '' : ':'}${counts(works.byClass)}`,
    `Phases:${counts(works.byPhase) || ' none'}`,
    `Signals raised: ${signals.raised}`,
    ...Object.entries(signals.byKind).flatMap(([kind, states]) => {
      const told = counts(states);
      return told === '' ? [] : [`  ${kind}:${told}`];
    }),
    `Acknowledged: ${acknowledgement.acknowledged}, after a median of ${told(acknowledgement.medianSeconds, secondsText)}, at most ${told(acknowledgement.longestSeconds, secondsText)} (by the log's clock)`,
    `Oldest open signal: ${told(acknowledgement.oldestOpenSeconds, secondsText)}`,
    `Cost: ${told(cost.usd, (usd) => `$${usd.toFixed(2)}`)} (${cost.worksMeasured} works measured, ${cost.worksPartly} in part, ${cost.worksUnmeasured} not)`,
    `Agents live at once: ${told(liveAtOnce, String)}${liveAtOnce.at === null ? '' : `, at ${liveAtOnce.at} (by the reported times)`}`,
    '',
    `Efficiency of done works: ${told(efficiency.mean, percent)} over ${efficiency.scored} with a score, ${efficiency.unscored} without`,
    ...(efficiency.items.length === 0 ? [] : table(efficiency.items)),
    ...(efficiency.next === null
      ? []
      : [`More works: headway report --days ${window.days} --cursor ${efficiency.next}`]),
  ];
}

const table = (items: readonly WorkEfficiency[]): string[] =>
  columns(
    ['WORK', 'PHASE', 'EFFICIENCY', 'COMPLETION', 'SCORE', 'OF', 'MISSING'],
    items.map((item) => [
      item.work,
      item.phase,
      item.efficiency === null ? '-' : percent(item.efficiency),
      item.completion === null ? '-' : percent(item.completion),
      item.trajectoryScore === null ? '-' : percent(item.trajectoryScore),
      item.dimensions.map(({ dimension, baseline, actual }) => `${dimension} ${baseline}/${actual}`).join(', '),
      item.reason ?? item.missing.map(({ dimension, reason }) => `${dimension}: ${reason}`).join(' '),
    ]),
  );

const percent = (share: number): string => `${Math.round(share * 100)}%`;

const counts = (numbers: Readonly<Record<string, number>>): string =>
  Object.entries(numbers)
    .filter(([, number]) => number > 0)
    .map(([name, number]) => ` ${number} ${name}`)
    .join(',');

const told = (number: Measured, text: (value: number) => string): string =>
  number.value === null ? `not known (${number.reason})` : text(number.value);
