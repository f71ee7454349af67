import { type DocumentReader, documentFormats } from '../documents/index.ts';
import { outputLimits } from '../limits.ts';
import { detached, LineSplitter, plainText } from '../lines.ts';
import { toolReaders } from '../readers/index.ts';
import { createMaskingReader, type MaskedFound } from '../readers/masking.ts';
import type { Answer, Failure, Paths, Report } from '../readers/reader.ts';
import type { SignatureRules } from '../rules.ts';
import { KeySet } from './key-set.ts';
import {
  BRACE,
  BRACKET,
  findLine,
  GREATER_THAN,
  isBlank,
  isPassing,
  LESS_THAN,
  type Line,
  lineFrom,
  meansNothing,
  readLine,
} from './line-source.ts';
import type { Unprefixed } from './prefixes.ts';
import { type Divided, Sessions, type Started } from './sessions.ts';

/** What a user's rules are called where a tool's name is expected. */
const RULES = 'rules';
const MASKING = 'masking';

/** A package manager starts the next script: no session is open after it. */
const boundary = /^> \S{1,214}@\S{1,64} \S{1,100}$/;

/** What one channel's readers found. */
export interface ChannelFound {
  readonly byTool: readonly { readonly tool: string; readonly failures: Failure[] }[];
  /** What wrappers said of a failure inside them. */
  readonly wrapping: readonly { readonly tool: string; readonly failures: Failure[] }[];
  readonly masked: readonly MaskedFound[];
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
  readonly #surroundings: Surroundings;
  readonly #lanes = new Map<string, { channel: Channel; workspace: string | null }>();
  #prefix: Unprefixed | null = null;
  readonly #unprefixed = (found: Unprefixed): void => {
    this.#prefix = found;
  };
  readonly #paths: Paths;
  readonly #sessions: Sessions;
  readonly #rules: SignatureRules | null;
  readonly #watch: LineWatcher | null;
  readonly #started: (Started | undefined)[] = toolReaders.map(() => undefined);
  /** Lines since the last boundary, those before it, and the noise. */
  #masking = createMaskingReader();
  readonly #before = createMaskingReader();
  /** Lines inside a session that may be about a failure: masked only where they count. */
  #adopted = createMaskingReader();
  readonly #noise = new Set<string>();
  #holder: Started | null = null;
  #held = 0;
  #silent = true;
  /** Keys that the line just read gave, while somebody watches. */
  #fresh: { reader: string; key: string }[] = [];
  readonly #keys = new Map<string, KeySet>();
  readonly #wrapping = new Map<string, KeySet>();
  #document: DocumentReader | null = null;
  /** How many failing items the document named. */
  #named = 0;
  /** What a document was told before it was recognised. */
  #undecided = '';
  readonly #lines = new LineSplitter(
    findLine,
    (bytes, to) => this.#take(bytes, to),
    (raw) => {
      if (this.#document !== null) this.#tell(this.#document, plainText(raw));
    },
  );

  constructor(surroundings: Surroundings) {
    const { paths, sessions, rules, watch } = surroundings;
    this.#surroundings = surroundings;
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
    this.#replay(this.#undecided);
    this.#endDocument(this.#document);
    for (const started of this.#started) started?.reader.end?.();
    this.#tellWatcher('', null);
    this.divide();
    const lanes = [...this.#lanes.values()].map(({ channel, workspace }) => inWorkspace(channel.end(), workspace));
    const ofTools = (sets: ReadonlyMap<string, KeySet>) =>
      [...sets].map(([tool, keys]) => ({ tool, failures: keys.failures() }));
    const byTool = ofTools(this.#keys);
    return {
      byTool: [...byTool, ...lanes.flatMap((lane) => lane.byTool)],
      wrapping: [...ofTools(this.#wrapping), ...lanes.flatMap((lane) => lane.wrapping)],
      masked: [this.#before.end(), ...lanes.flatMap((lane) => lane.masked)],
      silent: this.#silent && lanes.every((lane) => lane.silent),
    };
  }

  adopt(): void {
    this.#adopted.absorb(this.#masking);
    this.#masking = createMaskingReader();
  }

  divide(): void {
    this.#before.absorb(this.#masking);
    if (!this.#sessions.hasNamedFailures()) this.#keepNoise();
    this.#forgetNoise();
  }

  forget(): void {
    this.#before.absorb(this.#masking);
    this.#forgetNoise();
  }

  #keepNoise(): void {
    this.#before.absorb(this.#adopted);
    for (const line of this.#noise) this.#before.take(line);
  }

  #forgetNoise(): void {
    this.#masking = createMaskingReader();
    this.#adopted = createMaskingReader();
    this.#noise.clear();
  }

  /** Nobody waits for the line, and it wakes nobody. */
  #skips(bytes: Buffer, to: number): boolean {
    if (this.#document !== null || this.#holder !== null) return false;
    if (this.#watch !== null || this.#rules !== null) return false;
    const session = this.#sessions.open;
    const isOurs = session !== null && session.channel === this;
    if (isOurs && session.reader.isWaiting !== true) return false;
    if (!meansNothing(bytes, to) && !(isOurs && isPassing(bytes, to, session.passing))) return false;
    this.#silent &&= isBlank(to);
    return true;
  }

  #take(bytes: Buffer, to: number): void {
    if (this.#skips(bytes, to)) return;
    this.#prefix = null;
    const line = lineFrom(bytes, to, this.#unprefixed);
    const lane = this.#prefix === null ? this : this.#laneOf(this.#prefix);
    lane.#read(line);
  }

  /** Programs that run side by side each have their own lines, sessions and documents. */
  #laneOf({ lane, workspace }: Unprefixed): Channel {
    if (lane === null) return this;
    const known = this.#lanes.get(lane)?.channel;
    if (known !== undefined) return known;
    if (this.#lanes.size >= outputLimits.lanes) return this;
    const channel = new Channel({ ...this.#surroundings, sessions: new Sessions() });
    this.#lanes.set(lane, { channel, workspace });
    return channel;
  }

  #read(line: Line): void {
    // The end of a line comes with the next one: a line may go on in further pieces.
    if (this.#document !== null) this.#tell(this.#document, `\n${line.line}`);
    else {
      this.#document = this.#documentFrom(line.line);
      if (this.#document === null) this.#line(line);
      else this.#tell(this.#document, line.line);
    }
  }

  #documentFrom(line: string): DocumentReader | null {
    const first = line.charCodeAt(0);
    if (first !== LESS_THAN && first !== BRACE && first !== BRACKET) return null;
    const format = documentFormats.find(({ begins }) => begins(line));
    this.#named = 0;
    return format?.start((tool) => this.#counted(this.#reportOf(tool))) ?? null;
  }

  #counted(report: Report): Report {
    return {
      ...report,
      failing: (key, message) => {
        this.#named += 1;
        report.failing(key, message);
      },
    };
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
    else this.#replay(`${before}${piece}`);
  }

  #endDocument(document: DocumentReader | null): void {
    if (document === null) return;
    document.end();
    this.#silent = false;
    if (document.isOfTests !== true || this.#named === 0 || this.#sessions.open !== null) return;
    this.adopt();
    this.forget();
  }

  #replay(text: string): void {
    for (const line of text.split('\n')) this.#line(readLine(line.slice(0, outputLimits.lineChars), () => {}));
  }

  #line(read: Line): void {
    const { line, text } = read;
    if (line === '') {
      this.#owner(line, text);
      return;
    }
    this.#silent = false;
    if (text.length === line.length && line.charCodeAt(0) === GREATER_THAN && boundary.test(line))
      this.#sessions.boundary();
    const reader = this.#byRule(line) ?? (this.#owner(line, text) ?? this.#wake(read))?.tool ?? null;
    if (reader === null && read.isWorthReading) this.#unclaimed(line);
    if (this.#watch !== null) this.#tellWatcher(line, reader ?? (this.#sessions.open === null ? MASKING : null));
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
    if (session === null || session === holder || session.channel !== this) return null;
    return this.#ask(session, line, text) ? session : null;
  }

  #wake({ line, text, low, high }: Line): Started | null {
    if ((low | high) === 0) return null;
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
      channel: this,
      tool: tool.tool,
      passing: (tool.passing ?? []).map(([begins, ends]) => ({ begins: Buffer.from(begins), ends: Buffer.from(ends) })),
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
    if (this.#sessions.open !== null) {
      if (this.#noise.size < outputLimits.remembered && !this.#noise.has(line)) this.#noise.add(detached(line));
      return;
    }
    const found = this.#masking.take(line);
    if (this.#watch !== null && found !== null) this.#fresh.push({ reader: MASKING, key: found });
  }

  #tellWatcher(line: string, reader: string | null): void {
    if (this.#watch === null || (line === '' && this.#fresh.length === 0)) return;
    const fresh = this.#fresh.splice(0);
    const inSession = this.#sessions.open !== null;
    this.#watch({ line, reader: reader ?? fresh[0]?.reader ?? null, keys: fresh.map(({ key }) => key), inSession });
  }
}

/** A package's name stands before its keys: packages have tests and files of one name. */
function inWorkspace(found: ChannelFound, workspace: string | null): ChannelFound {
  if (workspace === null) return found;
  const named = (failures: readonly Failure[]): Failure[] =>
    failures.map(({ key, message }) => ({ key: `${workspace} > ${key}`, message: message ?? key }));
  return {
    ...found,
    byTool: found.byTool.map(({ tool, failures }) => ({ tool, failures: named(failures) })),
    wrapping: found.wrapping.map(({ tool, failures }) => ({ tool, failures: named(failures) })),
    masked: found.masked.map((masked) => ({ ...masked, failures: named(masked.failures), loose: named(masked.loose) })),
  };
}
