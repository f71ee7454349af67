import type { PositionText, Proposal, RecoverView } from '@headway/contracts';
import { digest } from '@headway/kernel';
import type { SignalWithWorks, WorkRow } from '@headway/readmodel';
import { signalView } from './views.ts';

/** Characters of a reason that stand in a proposal. */
const REASON_LENGTH = 500;
/** The source of a proposal that somebody copied: the same copy twice is one report. */
const SOURCE = 'headway/recover';

export interface Recovering {
  readonly work: WorkRow;
  /** The open signal that concerns the work; `null` = there is none. */
  readonly signal: SignalWithWorks | null;
  readonly position: PositionText;
}

/** What a person may do about a work that is stuck, ready to be copied. Headway itself does none of it. */
export function recoverView({ work, signal, position }: Recovering): RecoverView {
  const open = signal?.state === 'open' ? signal : null;
  return {
    work: work.work,
    position,
    class: work.class,
    reason: work.assessment?.reason ?? null,
    signal: open === null ? null : signalView(open),
    proposals: open === null ? [] : [propose(work, open), block(work, open)],
    none: open === null ? noneBecause(work) : null,
    openDelegations: work.ledger.delegations,
    moreDelegations: work.ledger.moreDelegations,
  };
}

const noneBecause = (work: WorkRow): string =>
  work.assessment === null
    ? 'The work was not assessed yet.'
    : `No signal is open for it: it is ${work.class}, ${work.assessment.phase}.`;

function propose(work: WorkRow, signal: SignalWithWorks): Proposal {
  const from = work.orchestrator ?? 'orchestrator';
  const to = work.worker;
  const text = `${firstPart(signal)} What has been tried does not bring this work forward. Proposed: stop repeating it, say what was learned at a checkpoint, and choose another way or ask for help.`;
  const data = {
    signal: digest('recover', work.tenant, work.work, signal.signal, 'propose').slice(0, 32),
    thread: signal.signal,
    inReplyTo: null,
    intent: 'PROPOSE',
    from,
    to: to === null ? [] : [to],
    text,
  };
  const command = [
    'headway',
    'signal',
    'send',
    work.work,
    '--intent',
    'PROPOSE',
    '--thread',
    signal.signal,
    '--as',
    from,
  ];
  return {
    kind: 'propose',
    title: to === null ? 'Propose another way on the thread of the signal' : `Propose another way to ${to}`,
    because: firstPart(signal),
    command: shell([...command, ...(to === null ? [] : ['--to', to]), '--text', text]),
    event: eventOf(work, 'headway.signal.sent', data.signal, data),
  };
}

function block(work: WorkRow, signal: SignalWithWorks): Proposal {
  const reason = `Stands still: ${firstPart(signal)}`;
  const id = digest('recover', work.tenant, work.work, signal.signal, 'block').slice(0, 32);
  return {
    kind: 'block',
    title: 'Block the work until somebody has looked at it',
    because: 'A blocked work raises no signal; `headway work unblock` lets it go on, with its counters at zero.',
    command: shell(['headway', 'work', 'block', work.work, '--by', 'orchestrator', '--reason', reason]),
    event: eventOf(work, 'headway.work.blocked', id, { by: 'orchestrator', reason }),
  };
}

const eventOf = (work: WorkRow, type: string, id: string, data: object): Proposal['event'] => ({
  specversion: '1.0',
  source: SOURCE,
  id,
  subject: work.work,
  type,
  incarnation: work.incarnation,
  data,
});

const firstPart = (signal: SignalWithWorks): string => signal.reason.slice(0, REASON_LENGTH);

/** Arguments for a POSIX shell: whatever was reported, it stays one argument of one line. */
const shell = (words: readonly string[]): string => words.map(quoted).join(' ');

function quoted(word: string): string {
  const line = word.replace(/\p{Cc}+/gu, ' ');
  return /^[A-Za-z0-9_./:@%+=-]+$/.test(line) && !line.startsWith('=') ? line : `'${line.replaceAll("'", `'\\''`)}'`;
}
