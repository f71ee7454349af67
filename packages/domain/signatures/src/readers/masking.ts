import { outputLimits } from '../limits.ts';
import { detached } from '../lines.ts';
import { maskAssertion, maskMessage, maskName } from '../mask.ts';
import { KeySet } from '../reading/key-set.ts';
import * as kind from './line-kinds.ts';
import type { Failure } from './reader.ts';

/** What the masking reader found by the end of the output. */
export interface MaskedFound {
  readonly failures: Failure[];
  /** Lines that may be about a failure: they count only where nothing better was found in the whole output. */
  readonly loose: Failure[];
  /** Nothing but a service, a network or a program that the gate needs was the matter. */
  readonly infrastructure: boolean;
}

/**
 * Reads output of any tool: keeps the lines that look like failures, masks what differs between two runs of the same
 * failure, and makes each a key. It knows no tool; it knows what lines about tests and errors look like.
 */
export function createMaskingReader(): MaskingReader {
  return new MaskingReader();
}

interface Heading {
  readonly indent: number;
  readonly name: string;
}

export class MaskingReader {
  /** Failing tests and errors. */
  readonly #keys = new KeySet();
  /** Taken only where nothing better was found. */
  readonly #loose = new KeySet();
  /** Suites that enclose the coming lines, outermost first. */
  #headings: Heading[] = [];
  /** The file that the next test's line or lint row belongs to. */
  #file: string | null = null;
  /** The failing test read last: its file may follow. */
  #test: string | null = null;
  /** Messages that were read already: they say nothing new. */
  readonly #messages = new Set<string>();
  readonly #names = new Map<string, string>();
  /** The key that the line just read gave. */
  #fresh: string | null = null;
  #ownFailures = 0;
  #infrastructure = 0;

  take(line: string): string | null {
    this.#fresh = null;
    this.#read(line.startsWith('::error') ? annotated(line) : line);
    return this.#fresh;
  }

  #read(line: string): void {
    const text = line.trimStart();
    if (kind.lintPath.test(line)) this.#file = maskMessage(line);
    const indent = line.length - text.length;
    if (this.#heading(text, indent) || this.#place(text)) return;
    const verdict = kind.testVerdict(text);
    if (verdict === 'failed' && !kind.footer.test(text)) this.#failingTest(text, indent);
    else if (verdict !== 'passed' && !this.#messages.has(line)) {
      this.#message(line, text);
      if (!kind.lintRow.test(line)) remember(this.#messages, line);
    }
  }

  /** Takes over what another one found. */
  absorb(other: MaskingReader): void {
    for (const { key, message } of other.#keys.failures()) this.#keys.add(key, message ?? key);
    for (const { key, message } of other.#loose.failures()) this.#loose.add(key, message ?? key);
    this.#ownFailures += other.#ownFailures;
    this.#infrastructure += other.#infrastructure;
  }

  end(): MaskedFound {
    return {
      failures: this.#keys.failures(),
      loose: this.#loose.failures(),
      infrastructure: this.#infrastructure > 0 && this.#ownFailures === 0,
    };
  }

  /** `▶ suite` and `# Subtest: name` come before what they enclose and are indented less. */
  #heading(text: string, indent: number): boolean {
    const name = text.startsWith('▶ ') ? text.slice(2) : text.startsWith('# Subtest: ') ? text.slice(11) : null;
    if (name === null) return false;
    this.#leave(indent);
    if (this.#headings.length < outputLimits.headings) this.#headings.push({ indent, name: maskName(name) });
    return true;
  }

  #leave(indent: number): void {
    while ((this.#headings.at(-1)?.indent ?? -1) >= indent) this.#headings.pop();
  }

  /** `test at FILE:LINE:COLUMN` before a test, `location: 'FILE:LINE:COLUMN'` after it. */
  #place(text: string): boolean {
    if (text.startsWith('test at ')) {
      this.#file = maskMessage(text.slice(8));
      return true;
    }
    if (!text.startsWith('location: ')) return false;
    if (this.#test !== null) this.#add(`${maskMessage(text.slice(10).replaceAll("'", ''))} ${this.#test}`, text);
    this.#test = null;
    return true;
  }

  #failingTest(text: string, indent: number): void {
    this.#test = null;
    if (/#\s*(?:TODO|SKIP)\b/i.test(text)) return;
    this.#leave(indent);
    const plain = text
      .replace(/\.{3,200}Failed$/, '... Failed')
      .replace(/^\d\d:\d\d \+\d[\d ~-]{0,40}: /, '')
      .replace(/^not ok \d+/, 'not ok')
      .replace(/^\d{1,4}\) /, '1) ');
    // What stands after the id of a pytest summary is the assertion's message.
    const cut = /^(?:FAILED|ERROR) \S/.test(plain) ? plain.indexOf(' - ') : -1;
    const name = this.#name(cut === -1 ? plain : plain.slice(0, cut));
    const how = cut === -1 ? '' : (/^ - (\w{1,60}(?:Error|Exception))\b/.exec(plain.slice(cut))?.[1] ?? '');
    const within = this.#headings.map((heading) => `${heading.name} > `).join('');
    const key = `${within}${name}${how === '' ? '' : ` ${how}`}`;
    const file = this.#file !== null && indent === 0 && text.startsWith('✖ ') ? `${this.#file} ` : '';
    this.#file = null;
    this.#add(file + key, text);
    this.#test = key;
    this.#ownFailures += 1;
  }

  #name(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= outputLimits.remembered) this.#names.clear();
    const name = maskName(text);
    this.#names.set(text, name);
    return name;
  }

  #message(line: string, found: string): void {
    const row = kind.lintRow.exec(line);
    if (row !== null) {
      if (row[1] === 'error') this.#own(`${this.#file ?? ''} ${maskMessage(row[2] as string)}`, found);
      return;
    }
    // TAP's comments, and causes as Gradle lists them.
    const text = /^(?:# |> Could not )/.test(found) ? found.slice(2).trimStart() : found;
    if (kind.footer.test(text) || kind.surroundings.test(text)) return;
    const infrastructure = kind.isOutage(text);
    if (infrastructure) this.#infrastructure += 1;
    if (kind.wrapper.test(text)) this.#addLoose(text);
    else if (kind.aboutFailure(line, text)) {
      const key = kind.assertion.test(text) ? maskAssertion(text) : maskMessage(text);
      if (infrastructure || kind.perhapsOfOutage.test(text)) this.#add(key, text);
      else this.#own(key, text);
    } else if (infrastructure || kind.perhapsFailure.test(text)) this.#addLoose(text);
  }

  #own(key: string, message: string): void {
    this.#add(key, message);
    this.#ownFailures += 1;
  }

  #add(key: string, message: string): void {
    this.#fresh = key;
    this.#keys.add(key, message);
  }

  #addLoose(text: string): void {
    this.#fresh = maskMessage(text);
    this.#loose.add(this.#fresh, text);
  }
}

function remember(lines: Set<string>, line: string): void {
  if (lines.size >= outputLimits.remembered) lines.clear();
  lines.add(detached(line));
}

const annotation = /^::error(?: ([^:]{0,400}))?::/;

/** An annotation for GitHub without a title, as a line that says the same. */
function annotated(line: string): string {
  const found = annotation.exec(line);
  if (found === null) return line;
  const file = /file=([^,]{1,300})/.exec(found[1] ?? '')?.[1];
  return `${file === undefined ? '' : `${file}: `}error: ${line.slice(found[0].length)}`;
}
