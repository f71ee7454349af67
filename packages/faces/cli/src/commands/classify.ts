import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type Classification, createClassification, type Pushed } from '@headway/trajectory';
import { type Context, oneLine, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { cliLimits } from '../limits.ts';
import { type NumberedLine, readLines } from '../read-lines.ts';

export interface ClassifyOptions {
  readonly each?: boolean;
}

/**
 * Classifies recorded evidence without a server and prints JSON lines: one per work, one per open shared failure, and a
 * summary; with `each` a work's line after every event about it. NDJSON is read as it comes, in flat memory; a case file
 * or a JSON array as a whole. What cannot be read is told with its number and skipped; the exit code is then 2.
 */
export async function classify(
  context: Context,
  file: string,
  options: ClassifyOptions,
  stdin: AsyncIterable<Uint8Array> = process.stdin,
): Promise<number> {
  const run = new Run(context, createClassification(), options.each === true);
  try {
    await run.read(readLines(file === '-' ? stdin : createReadStream(file, { highWaterMark: 256 * 1024 })));
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    say(context, `${file} cannot be read (${String(error.code)}): name a file, or - for standard input`);
    return exitCodes.usage;
  }
  await run.finish();
  return run.malformed > 0 ? exitCodes.usage : exitCodes.ok;
}

class Run {
  readonly #context: Context;
  readonly #classification: Classification;
  readonly #each: boolean;
  #out: string[] = [];
  #outChars = 0;
  malformed = 0;

  constructor(context: Context, classification: Classification, each: boolean) {
    this.#context = context;
    this.#classification = classification;
    this.#each = each;
  }

  /** The first lines tell what the input is: a document (a case file, an array) or one event a line. */
  async read(input: AsyncGenerator<NumberedLine[]>): Promise<void> {
    const held: NumberedLine[] = [];
    let heldChars = 0;
    let form: 'unknown' | 'lines' | 'document' = 'unknown';
    for await (const lines of input) {
      if (form === 'lines') {
        for (const line of lines) this.#line(line);
      } else {
        for (const line of lines) {
          held.push(line);
          heldChars += line.text?.length ?? 0;
        }
        if (form === 'unknown') form = formOf(held);
        if (form === 'lines' || heldChars > cliLimits.documentBytes) {
          form = 'lines';
          for (const line of held.splice(0)) this.#line(line);
        }
      }
      await this.#flush(64 * 1024);
    }
    if (held.length > 0) this.#document(held);
    await this.#flush(0);
  }

  async finish(): Promise<void> {
    if (!this.#each) for (const line of this.#classification.works()) this.#print(line);
    for (const line of this.#classification.shared()) this.#print(line);
    this.#print(this.#classification.summary());
    const more = this.malformed - cliLimits.malformedShown;
    if (more > 0) say(this.#context, `and ${more} more that cannot be read`);
    await this.#flush(0);
  }

  #document(held: readonly NumberedLine[]): void {
    const parsed = parse(held.map((line) => line.text ?? '').join('\n'));
    if (parsed.ok && Array.isArray(parsed.value)) {
      for (const [index, event] of parsed.value.entries()) this.#push(event, `event ${index + 1}`, false);
      return;
    }
    const events = parsed.ok ? (parsed.value as { events?: unknown } | null)?.events : undefined;
    if (Array.isArray(events))
      for (const [index, event] of events.entries()) this.#push(event, `event ${index + 1}`, true);
    else for (const line of held) this.#line(line);
  }

  #line({ number, text }: NumberedLine): void {
    if (text === null) this.#complain(`line ${number}`, `it is longer than ${cliLimits.lineChars} characters`);
    else {
      const plain = number === 1 ? text.replace(/^\ufeff/, '') : text;
      if (plain.trim() === '') return;
      const parsed = parse(plain);
      if (parsed.ok) this.#push(parsed.value, `line ${number}`, false);
      else this.#complain(`line ${number}`, `it is not JSON (${parsed.failure})`);
    }
  }

  #push(event: unknown, place: string, defaults: boolean): void {
    const pushed: Pushed = this.#classification.push(event, { defaults });
    if (pushed.kind === 'malformed') this.#complain(place, pushed.problem.detail);
    else if (this.#each && pushed.kind !== 'duplicate')
      for (const work of pushed.works) this.#print(this.#classification.line(work));
  }

  #complain(place: string, what: string): void {
    this.malformed += 1;
    if (this.malformed <= cliLimits.malformedShown) say(this.#context, `${place}: ${oneLine(what).slice(0, 300)}`);
  }

  #print(line: object): void {
    const text = `${JSON.stringify(line)}\n`;
    this.#out.push(text);
    this.#outChars += text.length;
  }

  async #flush(above: number): Promise<void> {
    if (this.#outChars <= above) return;
    const text = this.#out.join('');
    this.#out = [];
    this.#outChars = 0;
    if (!this.#context.stdout.write(text) && !this.#context.stdout.destroyed) await once(this.#context.stdout, 'drain');
  }
}

type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failure: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, failure: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * A line that is an object without `events` is an event, so one event a line. What begins with a bracket is an array.
 * A first line that is no whole JSON is the beginning of a document, unless the second one is whole by itself.
 */
function formOf(held: readonly NumberedLine[]): 'unknown' | 'lines' | 'document' {
  const [first, second] = held.filter(({ text }) => text === null || text.replace(/^\ufeff/, '').trim() !== '');
  if (first === undefined) return 'unknown';
  const text = first.text?.replace(/^\ufeff/, '').trim() ?? '';
  if (text.startsWith('[')) return 'document';
  if (!text.startsWith('{')) return 'lines';
  const whole = parse(text);
  if (whole.ok) return Array.isArray((whole.value as { events?: unknown }).events) ? 'document' : 'lines';
  if (second === undefined) return 'unknown';
  const next = parse(second.text ?? '');
  return next.ok && next.value !== null && typeof next.value === 'object' ? 'lines' : 'document';
}
