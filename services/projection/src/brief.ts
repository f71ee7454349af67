import { type PositionText, type RuleId, trajectoryClasses } from '@headway/contracts';
import type { SignalWithWorks, WorkRow } from '@headway/readmodel';
import { code, prose } from './markdown.ts';

/** Characters of the redirect block, at most. */
export const REDIRECT_LENGTH = 2_000;
/** Acceptance criteria that are listed; the rest is counted. */
const CRITERIA = 50;
const CRITERION_LENGTH = 500;
const NOTE_LENGTH = 1_000;
const NAME_LENGTH = 100;
const REASON_LENGTH = 300;
const SIGNAL_LENGTH = 128;
const SIGNATURE_PREFIX = 12;

export interface Briefing {
  readonly work: WorkRow;
  /** The open signal that concerns the work, its own or a shared failure's; `null` = there is none. */
  readonly signal: SignalWithWorks | null;
  /** Up to where in the evidence the class is meant. */
  readonly asOf: PositionText;
}

/** What an agent reads before it goes on: the redirect on top where a signal is open, then what is to be done. */
export function renderBrief(briefing: Briefing): string {
  const { work, signal } = briefing;
  const sections = [
    `# Brief for ${code(work.work, 2 * NAME_LENGTH)}`,
    ...(signal?.state === 'open' ? [renderRedirect(work, signal, briefing.asOf)] : []),
    renderCriteria(work),
    renderCheckpoint(work),
    renderClass(briefing),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Facts, not commands; {@link REDIRECT_LENGTH} characters at most. */
export function renderRedirect(work: WorkRow, signal: SignalWithWorks, asOf: PositionText): string {
  const id = prose(signal.signal, SIGNAL_LENGTH);
  const rule = signal.rule === null ? '' : ` by ${code(signal.rule, NAME_LENGTH)}`;
  const delta = work.assessment?.delta ?? null;
  const lines = [
    '## Trajectory redirect',
    '',
    `- Class: **${signal.kind}**${rule}`,
    `- Gate: ${signal.gate === null ? 'none' : code(signal.gate, NAME_LENGTH)}`,
    `- Attempts: ${attemptsOf(work, signal)}`,
    `- Signature: ${signal.signature === null ? 'none' : code(signal.signature.slice(0, SIGNATURE_PREFIX), NAME_LENGTH)}`,
    `- Last diff delta: ${delta === null ? 'not known' : `+${delta.added} -${delta.removed} lines`}`,
    `- Redirect: ${redirectLine(signal)}`,
    `- Reason: ${prose(signal.reason, REASON_LENGTH)}`,
    `- Signal: ${id}`,
    `- As of: ${asOf}`,
    `- Answer: \`headway ack ${code(signal.signal, SIGNAL_LENGTH).slice(1, -1)} --agree\`, or \`--reject\``,
  ];
  return lines.join('\n').slice(0, REDIRECT_LENGTH);
}

/** What a rule counted; a shared failure counts works, so that there it is all attempts of this one. */
const attemptsOf = (work: WorkRow, { kind, count }: SignalWithWorks): number =>
  kind === 'shared-failure' ? work.attempts : (count ?? work.attempts);

const redirects: Partial<Record<RuleId, string>> = {
  'same-failure': 'the gate was run again on an unchanged diff, and failed in the same way each time.',
  'no-movement': 'the gate was run again and again without a pass, and the diff has not changed in between.',
  circling: 'the diff changes, and the gate fails in the same way each time.',
  revert: 'the diff came back to states that had been left, where the gate had failed in this way before.',
  overrun: 'verdicts and commits have passed what the sizing allows, without a checkpoint that brought new work.',
  'passed-prep': 'the prep gate has passed, and nothing has followed; the next step waits for someone.',
  'subagent-stop': 'a subagent has stopped, and nothing has followed; the next step waits for someone.',
  'delegation-done': 'the delegated work is complete, and nothing has followed; the next step waits for someone.',
};

function redirectLine({ kind, rule, works }: SignalWithWorks): string {
  if (kind === 'shared-failure') return `${works.length} works fail this gate in the same way at once.`;
  return (rule === null ? undefined : redirects[rule]) ?? 'the attempts have not brought the work forward.';
}

function renderCriteria({ criteria }: WorkRow): string {
  const listed = criteria.slice(0, CRITERIA).map((criterion) => `- ${prose(criterion, CRITERION_LENGTH)}`);
  if (criteria.length > CRITERIA) listed.push(`- and ${criteria.length - CRITERIA} more`);
  return ['## Acceptance criteria', '', ...(listed.length === 0 ? ['None were declared.'] : listed)].join('\n');
}

function renderCheckpoint({ checkpoint }: WorkRow): string {
  if (checkpoint === null) return '## Last checkpoint\n\nNone in this incarnation.';
  const when = checkpoint.time === null ? '' : ` at ${prose(checkpoint.time, NAME_LENGTH)}`;
  const note = checkpoint.note === null ? 'without a note' : prose(checkpoint.note, NOTE_LENGTH);
  return `## Last checkpoint\n\nBy ${prose(checkpoint.by, NAME_LENGTH)}${when}: ${note}`;
}

function renderClass({ work, asOf }: Briefing): string {
  const { assessment } = work;
  const head = '## Trajectory now\n\n';
  if (assessment === null) return `${head}Not assessed yet.`;
  const name = trajectoryClasses.includes(work.class) ? work.class : 'unknown';
  const since = work.since === null ? '' : `, since ${prose(work.since, NAME_LENGTH)}`;
  return [
    `${head}- Class: **${name}** by ${code(assessment.rule, NAME_LENGTH)}${since}`,
    `- Reason: ${prose(assessment.reason, REASON_LENGTH)}`,
    `- As of: ${asOf}`,
  ].join('\n');
}
