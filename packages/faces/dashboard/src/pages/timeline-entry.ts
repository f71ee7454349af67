import type { TimelineEntry } from '@headway/contracts';
import { deltaText } from '../view/fleet.ts';
import { type ChildInput, h, reported } from '../view/markup.ts';
import { classMark, plural, short } from '../view/words.ts';

export const lanes = ['gates', 'commits', 'checkpoints', 'signals', 'other'] as const;
export type Lane = (typeof lanes)[number];

/** One fact as the timeline shows it. */
export interface Shown {
  readonly entry: TimelineEntry;
  readonly lane: Lane | 'class';
  /** How the mark looks: an outcome, a class, or the kind of fact. */
  readonly mark: string;
  /** One line without markup, for the overview. */
  readonly title: string;
  readonly content: ChildInput;
}

/** Failing keys listed under one attempt. */
const SHOWN_KEYS = 5;

type Data = Readonly<Record<string, unknown>>;
const record = (value: unknown): Data => (value !== null && typeof value === 'object' ? (value as Data) : {});
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const numeric = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const said = (value: unknown): ChildInput => {
  const note = text(value);
  return note === null ? null : h('p', { class: 'note' }, reported(note));
};

/** Reads an entry for showing. Entries were judged when they came in; what is not as expected is left out, never guessed. */
export function show(entry: TimelineEntry): Shown {
  const data = record(entry.data);
  if (entry.kind === 'assessment') return showAssessment(entry, data);
  if (entry.kind === 'signal') return showSignal(entry, data);
  switch (entry.type) {
    case 'headway.gate.attempted':
      return showAttempt(entry, data);
    case 'headway.commit.recorded':
      return showCommit(entry, data);
    case 'headway.checkpoint.recorded':
      return plain(entry, 'checkpoints', `checkpoint by ${text(data.by) ?? 'unknown'}`, said(data.note));
    case 'headway.signal.sent':
      return showMessage(entry, data);
    case 'headway.usage.recorded':
      return showUsage(entry, data);
    default:
      return showOther(entry, data);
  }
}

const plain = (entry: TimelineEntry, lane: Lane, title: string, ...more: ChildInput[]): Shown => ({
  entry,
  lane,
  mark: lane,
  title,
  content: [h('strong', {}, reported(title)), more],
});

function showAssessment(entry: TimelineEntry, data: Data): Shown {
  const name = text(data.class) ?? 'unknown';
  const reason = text(data.reason);
  return {
    entry,
    lane: 'class',
    mark: name,
    title: `class ${name}`,
    content: [
      classMark(name),
      ' ',
      reason !== null && reported(reason),
      text(data.rule) !== null && h('span', { class: 'aside' }, `rule ${text(data.rule)}`),
    ],
  };
}

function showSignal(entry: TimelineEntry, data: Data): Shown {
  const act = entry.type.replace(/^headway\.(signal|reply)\./, '');
  const id = text(data.signal);
  const kind = text(data.kind);
  const from = text(data.from);
  return {
    entry,
    lane: 'signals',
    mark: act === 'raised' ? 'raised' : 'signals',
    title: `signal ${act}`,
    content: [
      h('strong', {}, `signal ${act}`),
      id !== null && [' ', h('code', { title: id }, short(id))],
      kind !== null && ` (${kind})`,
      from !== null && [' by ', reported(from)],
      text(data.intent) !== null && ` ${text(data.intent)}`,
      text(data.by) !== null && [' by signal ', h('code', {}, short(text(data.by) ?? ''))],
      said(data.reason),
    ],
  };
}

function showAttempt(entry: TimelineEntry, data: Data): Shown {
  const gate = text(data.gate) ?? 'unnamed gate';
  const outcome = text(data.outcome) ?? 'unknown';
  const stage = text(data.stage);
  const failures = list(data.failures);
  const signature = text(record(data.signature).value);
  const duration = numeric(data.durationMs);
  const diff = data.diff === null || data.diff === undefined ? null : record(data.diff);
  return {
    entry,
    lane: 'gates',
    mark: outcome,
    title: `${gate} ${outcome}`,
    content: [
      h('strong', {}, reported(gate)),
      ' ',
      h('span', { class: `outcome outcome-${outcome}` }, outcome),
      stage !== null && stage !== 'bare' && ` (${stage})`,
      h(
        'span',
        { class: 'aside' },
        outcome === 'failed' &&
          `${failures.length === 0 ? 'no failing keys' : plural(failures.length, 'failing key')} · `,
        signature !== null && ['signature ', h('code', { title: signature }, short(signature)), ' · '],
        diff === null ? 'diff not observable' : ['diff ', h('code', {}, short(text(diff.hash) ?? '–')), changed(diff)],
        duration !== null && ` · ${(duration / 1_000).toFixed(1)} s`,
      ),
      failures.length > 0 && [
        h(
          'ul',
          { class: 'keys' },
          failures
            .slice(0, SHOWN_KEYS)
            .map((one) => h('li', {}, h('code', {}, reported(text(record(one).key) ?? '–')))),
        ),
        failures.length > SHOWN_KEYS && h('p', { class: 'aside' }, `and ${failures.length - SHOWN_KEYS} more`),
      ],
    ],
  };
}

function changed(diff: Data): string {
  const added = numeric(diff.added);
  const removed = numeric(diff.removed);
  return added === null || removed === null ? '' : ` ${deltaText({ added, removed })}`;
}

function showCommit(entry: TimelineEntry, data: Data): Shown {
  const files = list(data.files).map(record);
  const sum = (name: string): number => files.reduce((all, file) => all + (numeric(file[name]) ?? 0), 0);
  const sha = short(text(data.sha) ?? '–');
  const size = `${plural(files.length, 'file')}, ${deltaText({ added: sum('added'), removed: sum('removed') })}`;
  return plain(entry, 'commits', `commit ${sha}`, h('span', { class: 'aside' }, size));
}

function showMessage(entry: TimelineEntry, data: Data): Shown {
  const to = list(data.to)
    .map((one) => text(one) ?? '–')
    .join(', ');
  const title = `${text(data.intent) ?? 'message'} from ${text(data.from) ?? 'unknown'}`;
  return plain(
    entry,
    'signals',
    title,
    to !== '' && h('span', { class: 'aside' }, 'to ', reported(to)),
    said(data.text),
  );
}

function showUsage(entry: TimelineEntry, data: Data): Shown {
  const cost = numeric(data.costUsd);
  const tokens = [numeric(data.inputTokens), numeric(data.outputTokens)];
  const parts = [
    cost === null ? 'cost not measured' : `$${cost.toFixed(2)}`,
    tokens[0] === null || tokens[0] === undefined ? 'input tokens not measured' : `${tokens[0]} tokens in`,
    tokens[1] === null || tokens[1] === undefined ? 'output tokens not measured' : `${tokens[1]} tokens out`,
  ];
  return plain(entry, 'other', 'usage', h('span', { class: 'aside' }, parts.join(' · ')), said(data.reason));
}

function showOther(entry: TimelineEntry, data: Data): Shown {
  const name = entry.type.replace(/^headway\./, '').replace('.', ' ');
  const about = text(data.worker) ?? text(data.path) ?? text(data.delegation) ?? text(data.by);
  return plain(
    entry,
    'other',
    name,
    about !== null && h('span', { class: 'aside' }, reported(about)),
    said(data.reason),
  );
}
