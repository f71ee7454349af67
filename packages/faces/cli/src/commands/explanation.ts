import type { LineWatcher, Reason } from '@headway/signatures';
import { oneLine } from '../context.ts';

/** Lines with a key that an explanation keeps; further ones are counted. */
const MOST_LINES = 1_000;
const LINE_CHARS = 160;

const reasons: Readonly<Record<Reason, string>> = {
  'exit-0': 'the gate ended with exit code 0',
  silence: 'the gate failed without a word',
  outage: 'only a network, a service or a program that the gate needs was the matter',
  'missing-command': 'exit code 127: there was no such command',
  'not-executable': 'exit code 126: the command may not be run',
  'time-limit': 'exit code 124: a time limit ended it',
  killed: 'a signal ended it',
  'crash-without-a-word': 'it crashed and named nothing that fails',
  'failing-items': 'the output names what fails',
  'nothing-extractable': 'the output names nothing that fails: there is no signature, and it equals no other failure',
};

interface Kept {
  readonly number: number;
  readonly line: string;
  readonly reader: string;
  readonly keys: readonly string[];
  /** What was replaced in the line: `<time>`, `<port>` ... */
  readonly masked: readonly string[];
  /** A test printed it: it does not count once its runner has closed. */
  readonly inSession: boolean;
}

interface Told {
  readonly outcome: string;
  readonly why: Reason;
  readonly signature: string | null;
  readonly version: number;
  readonly rules: string | null;
  readonly gate: string;
  readonly exitCode: number;
  readonly failures: readonly { readonly key: string }[];
}

/** Collects which line became which key. Memory is bounded. */
export function createExplanation() {
  const kept: Kept[] = [];
  const counts = new Map<string, number>();
  let number = 0;
  let more = 0;
  const watch: LineWatcher = ({ line, reader, keys, inSession }) => {
    if (line !== '') number += 1;
    const name = reader ?? 'nobody (printed by tests)';
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (keys.length === 0) return;
    if (kept.length >= MOST_LINES) more += 1;
    else
      kept.push({
        number,
        line: line.slice(0, LINE_CHARS),
        reader: name,
        keys,
        masked: maskedIn(line, keys),
        inSession,
      });
  };
  /** Lines whose key is in the failing set; noise that was dropped stands apart. */
  const counted = (set: ReadonlySet<string>) => kept.filter(({ keys }) => keys.some((key) => set.has(key)));
  return {
    watch,
    json(keys: readonly string[]) {
      const set = new Set(keys);
      return {
        lines: counted(set).map(({ number: at, inSession: _, ...rest }) => ({
          line: at,
          text: rest.line,
          reader: rest.reader,
          keys: rest.keys,
          masked: rest.masked,
        })),
        dropped: kept.length - counted(set).length,
        more,
        read: Object.fromEntries(counts),
      };
    },
    text(told: Told): string {
      const set = new Set(told.failures.map((failure) => failure.key));
      const lines = counted(set).map(
        ({ number: at, line, reader, keys, masked }) =>
          `${String(at).padStart(7)}  ${reader.padEnd(12)} ${oneLine(line)}\n` +
          keys.map((key) => `${' '.repeat(9)}key          ${oneLine(key)}\n`).join('') +
          (masked.length === 0 ? '' : `${' '.repeat(9)}masked       ${masked.join(' ')}\n`),
      );
      const dropped = kept.length - lines.length;
      return [
        `outcome    ${told.outcome}: ${reasons[told.why]}\n`,
        `signature  ${told.signature ?? 'none'}\n`,
        `read by    version ${told.version}${told.rules === null ? '' : `, rules ${told.rules}`}, gate ${told.gate}, exit code ${told.exitCode}\n`,
        `lines      ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ') || 'none'}\n`,
        `failing    ${set.size} item${set.size === 1 ? '' : 's'}\n\n`,
        ...lines,
        dropped > 0
          ? `${dropped} lines looked like failures and do not count: tests printed them, or better ones were found\n`
          : '',
        more > 0 ? `${more} further lines with a key are not shown\n` : '',
      ].join('');
    },
  };
}

/** The words in angle brackets that stand in a key and not in its line. */
function maskedIn(line: string, keys: readonly string[]): string[] {
  const words = keys.flatMap((key) => key.match(/<(?:time|n|tmp|uuid|address|hash|port|pid|seed|value)>/g) ?? []);
  return [...new Set(words)].filter((word) => !line.includes(word));
}
