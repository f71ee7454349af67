import { type DocumentReader, documentFormats } from '../documents/index.ts';
import { outputLimits } from '../limits.ts';
import { cleanLine, cleanPiece, LineSplitter } from '../lines.ts';
import { toolReaders } from '../readers/index.ts';
import { createMaskingReader, type MaskedFound } from '../readers/masking.ts';
import type { Answer, Failure, Paths, Report } from '../readers/reader.ts';
import type { SignatureRules } from '../rules.ts';
import { KeySet } from './key-set.ts';
import type { Divided, Sessions, Started } from './sessions.ts';
import { WordIndex } from './word-index.ts';

const words = new WordIndex(toolReaders.map((reader) => reader.opens));

/** What a user's rules are called where a tool's name is expected. */
const RULES = 'rules';
const MASKING = 'masking';
const LESS_THAN = 0x3c;
const BRACE = 0x7b;

/** A package manager starts the next script: no session is open after it. */
const boundary = /^> \S{1,214}@\S{1,64} \S{1,100}$/;

/** What one channel's readers found. */
export interface ChannelFound {
  readonly byTool: readonly { readonly tool: string; readonly failures: Failure[] }[];
  /** What wrappers said of a failure inside them. */
  readonly wrapping: readonly { readonly tool: string; readonly failures: Failure[] }[];
  readonly masked: MaskedFound;
  /** Nothing but blanks was said. */
  readonly silent: boolean;
}

/** Told of every line that was read, for explanations: who took it and the keys that came of it. */
export type LineWatcher = (read: {
  readonly line: string;
  /** A tool, `rules`, `masking`, or `null`: nobody took a line inside a session. Empty lines are the end of the output. */
  readonly reader: string | null;
  readonly keys: readonly string[];
  readonly inSession: boolean;
}) => void;

/** What the channels of one output share. */
export interface Surroundings {
  readonly paths: Paths;
  readonly sessions: Sessions;
  readonly rules?: SignatureRules | undefined;
  readonly watch?: LineWatcher | undefined;
}

/** One stream of output: splits it into lines and asks the readers as their contract says. */
export class Channel implements Divided {
  readonly #paths: Paths;
  readonly #sessions: Sessions;
  readonly #rules: SignatureRules | null;
  readonly #watch: LineWatcher | null;
  readonly #started: (Started | undefined)[] = toolReaders.map(() => undefined);
  /** Lines since the last boundary, those before it, and the noise. */
  #masking = createMaskingReader();
  readonly #before = createMaskingReader();
  #noise = createMaskingReader();
  #holder: Started | null = null;
  #held = 0;
  #silent = true;
  /** Keys that the line just read gave, while somebody watches. */
  #fresh: { reader: string; key: string }[] = [];
  readonly #keys = new Map<string, KeySet>();
  readonly #wrapping = new Map<string, KeySet>();
  #document: DocumentReader | null = null;
  /** What a document was told before it was recognised. */
  #undecided = '';
  readonly #lines = new LineSplitter(
    (raw) => this.#read(cleanLine(raw)),
    (raw) => {
      if (this.#document !== null) this.#tell(this.#document, cleanPiece(raw));
    },
  );

  constructor({ paths, sessions, rules, watch }: Surroundings) {
    this.#paths = paths;
    this.#sessions = sessions;
    this.#rules = rules ?? null;
    this.#watch = watch ?? null;
    sessions.join(this);
  }

  push(chunk: Uint8Array | string): void {
    this.#lines.push(chunk);
  }

  end(): ChannelFound {
    this.#lines.end();
    for (const line of this.#undecided.split('\n')) this.#line(line.slice(0, outputLimits.lineChars));
    this.#endDocument(this.#document);
    for (const started of this.#started) started?.reader.end?.();
    this.#tellWatcher('', null);
    const byTool = [...this.#keys].map(([tool, keys]) => ({ tool, failures: keys.failures() }));
    this.divide();
    return {
      byTool,
      wrapping: [...this.#wrapping].map(([tool, keys]) => ({ tool, failures: keys.failures() })),
      masked: this.#before.end(),
      silent: this.#silent,
    };
  }

  adopt(): void {
    this.#noise.absorb(this.#masking);
    this.#masking = createMaskingReader();
  }

  divide(): void {
    this.#before.absorb(this.#masking);
    if (!this.#sessions.hasNamedFailures()) this.#before.absorb(this.#noise);
    this.#masking = createMaskingReader();
    this.#noise = createMaskingReader();
  }

  forget(): void {
    this.#before.absorb(this.#masking);
    this.#masking = createMaskingReader();
    this.#noise = createMaskingReader();
  }

  #read(line: string): void {
    if (this.#document === null) this.#document = this.#documentFrom(line);
    if (this.#document === null) this.#line(line);
    else this.#tell(this.#document, `${line}\n`);
  }

  #documentFrom(line: string): DocumentReader | null {
    const first = line.charCodeAt(0);
    if (first !== LESS_THAN && first !== BRACE) return null;
    const format = documentFormats.find(({ begins }) => begins(line));
    return format?.start((tool) => this.#reportOf(tool)) ?? null;
  }

  #tell(document: DocumentReader, piece: string): void {
    const state = document.write(piece);
    if (this.#watch !== null && this.#fresh.length > 0) this.#tellWatcher(piece.trim(), null);
    if (state === 'undecided') {
      this.#undecided += piece;
      return;
    }
    const before = this.#undecided;
    this.#undecided = '';
    if (state === 'reading') return;
    this.#document = null;
    if (state === 'done') this.#endDocument(document);
    else for (const line of `${before}${piece}`.split('\n')) this.#line(line.slice(0, outputLimits.lineChars));
  }

  #endDocument(document: DocumentReader | null): void {
    if (document === null) return;
    document.end();
    this.#silent = false;
  }

  #line(line: string): void {
    if (line === '') {
      this.#owner(line, line);
      return;
    }
    this.#silent = false;
    const text = line.trimStart();
    if (text.length === line.length && boundary.test(line)) this.#sessions.boundary();
    const reader = this.#byRule(line) ?? (this.#owner(line, text) ?? this.#wake(line, text))?.tool ?? null;
    if (reader === null) this.#unclaimed(line);
    this.#tellWatcher(line, reader ?? (this.#sessions.open === null ? MASKING : null));
  }

  /** A user's rule comes before every tool. */
  #byRule(line: string): string | null {
    const read = this.#rules?.read(line) ?? null;
    if (read === null) return null;
    if (read.key !== null) this.#reportOf(RULES).failing(read.key, line);
    return RULES;
  }

  #owner(line: string, text: string): Started | null {
    const holder = this.#holder;
    if (holder !== null && this.#ask(holder, line, text)) return holder;
    const session = this.#sessions.open;
    const own = session !== null && session !== holder && this.#started.includes(session);
    return own && this.#ask(session, line, text) ? session : null;
  }

  #wake(line: string, text: string): Started | null {
    if (!words.find(text)) return null;
    const { low, high } = words;
    return this.#woken(low, 0, line, text) ?? this.#woken(high, 32, line, text);
  }

  #woken(bits: number, first: number, line: string, text: string): Started | null {
    for (let left = bits; left !== 0; left &= left - 1) {
      const at = first + 31 - Math.clz32(left & -left);
      const reader = this.#started[at] ?? this.#start(at);
      if (reader !== this.#sessions.open && this.#ask(reader, line, text)) return reader;
    }
    return null;
  }

  #start(at: number): Started {
    const tool = toolReaders[at];
    if (tool === undefined) throw new Error(`there is no reader ${at}`);
    const started: Started = {
      tool: tool.tool,
      reader: tool.start(this.#reportOf(tool.tool)),
      keys: () => this.#keys.get(tool.tool)?.size ?? 0,
    };
    this.#started[at] = started;
    return started;
  }

  #reportOf(tool: string): Report {
    const keys = this.#keys.get(tool) ?? new KeySet();
    this.#keys.set(tool, keys);
    const wrapping = this.#wrapping.get(tool) ?? new KeySet();
    this.#wrapping.set(tool, wrapping);
    return {
      failing: (key, message) => {
        keys.add(key, message);
        if (this.#watch !== null) this.#fresh.push({ reader: tool, key });
      },
      wrapping: (key, message) => wrapping.add(key, message),
      passing: (key) => keys.remove(key),
      paths: this.#paths,
    };
  }

  /** `true`: the line was the reader's. */
  #ask(reader: Started, line: string, text: string): boolean {
    const answer: Answer = reader.reader.take(line, text);
    if (answer === 'hold') {
      this.#held = this.#holder === reader ? this.#held + 1 : 1;
      this.#holder = this.#held > outputLimits.heldLines ? null : reader;
    } else if (this.#holder !== null) this.#holder = null;
    if (answer !== 'taken' && answer !== 'pass' && answer !== 'hold') this.#sessions.answered(reader, answer);
    return answer !== 'pass' && answer !== 'leave';
  }

  #unclaimed(line: string): void {
    const found = this.#sessions.open === null ? this.#masking.take(line) : this.#noise.take(line);
    if (this.#watch !== null && found !== null) this.#fresh.push({ reader: MASKING, key: found });
  }

  #tellWatcher(line: string, reader: string | null): void {
    if (this.#watch === null || (line === '' && this.#fresh.length === 0)) return;
    const fresh = this.#fresh.splice(0);
    const inSession = this.#sessions.open !== null;
    this.#watch({ line, reader: reader ?? fresh[0]?.reader ?? null, keys: fresh.map(({ key }) => key), inSession });
  }
}
