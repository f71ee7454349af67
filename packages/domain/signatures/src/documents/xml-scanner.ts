import { outputLimits } from '../limits.ts';

export interface XmlEvents {
  /** `attributes` are decoded and cut at `outputLimits.valueChars`. */
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  /** The beginning of the text before the next tag, decoded, at most `outputLimits.valueChars`. */
  text(text: string): void;
  close(name: string): void;
}

type Ending = ']]>' | '-->' | '?>' | '>';

const MOST_TAG_CHARS = 16_384;
const tagName = /^\/?([A-Za-z_][\w:.-]{0,100})/;
const attribute = /([A-Za-z_][\w:.-]{0,100})\s{0,20}=\s{0,20}(?:"([^"]*)"|'([^']*)')/g;
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/**
 * Reads XML as it comes, whatever is broken or missing in it: a cut in the middle costs what was cut and no more. Knows
 * elements, attributes, text, CDATA, comments; no document types and no entities but the five and the numbered ones.
 */
export class XmlScanner {
  readonly #events: XmlEvents;
  #pending = '';
  #text = '';
  /** What the part that is being skipped ends with. */
  #until: Ending | null = null;
  #keeps = false;
  /** The tag that is being read. */
  #tag: { inside: string; quote: number } | null = null;

  constructor(events: XmlEvents) {
    this.#events = events;
  }

  write(chunk: string): void {
    const input = this.#pending + chunk;
    this.#pending = '';
    let at = 0;
    while (at < input.length) {
      if (this.#until !== null) at = this.#skip(input, at, this.#until);
      else if (this.#tag !== null) at = this.#readTag(input, at, this.#tag);
      else {
        const open = input.indexOf('<', at);
        this.#addText(input.slice(at, open === -1 ? input.length : open));
        if (open === -1) return;
        at = this.#markup(input, open);
      }
    }
  }

  #addText(text: string): void {
    const room = outputLimits.valueChars - this.#text.length;
    if (room > 0 && text !== '') this.#text += text.slice(0, room);
  }

  /** Enters the markup at `open`; the answer is the place to go on at. */
  #markup(input: string, open: number): number {
    const begin = input.slice(open, open + 9);
    if (begin === '<![CDATA[') return this.#enter(']]>', true, open + 9);
    if (begin.startsWith('<!--')) return this.#enter('-->', false, open + 4);
    if (begin.startsWith('<?')) return this.#enter('?>', false, open + 2);
    if (begin.length < 9 && ('<![CDATA['.startsWith(begin) || '<!--'.startsWith(begin))) {
      this.#pending = begin;
      return input.length;
    }
    if (begin.startsWith('<!')) return this.#enter('>', false, open + 2);
    this.#tag = { inside: '', quote: 0 };
    return open + 1;
  }

  /** To the `>` that is in no quotes. A `<` may not stand in a tag: the tag's end was lost, and another begins. */
  #readTag(input: string, from: number, tag: { inside: string; quote: number }): number {
    let at = from;
    for (; at < input.length; at += 1) {
      const code = input.charCodeAt(at);
      if (code === 0x3c) break;
      if (tag.quote !== 0) {
        if (code === tag.quote) tag.quote = 0;
      } else if (code === 0x22 || code === 0x27) tag.quote = code;
      else if (code === 0x3e) break;
    }
    const room = MOST_TAG_CHARS - tag.inside.length;
    if (room > 0) tag.inside += input.slice(from, Math.min(at, from + room));
    if (at === input.length) return at;
    this.#tag = null;
    this.#tell(tag.inside);
    return input[at] === '<' ? at : at + 1;
  }

  #enter(until: Ending, keeps: boolean, at: number): number {
    this.#until = until;
    this.#keeps = keeps;
    return at;
  }

  #skip(input: string, at: number, until: string): number {
    const end = input.indexOf(until, at);
    const stop = end === -1 ? Math.max(at, input.length - until.length + 1) : end;
    if (this.#keeps) this.#addText(input.slice(at, stop).replaceAll('&', '&amp;'));
    if (end === -1) {
      this.#pending = input.slice(stop);
      return input.length;
    }
    this.#until = null;
    return end + until.length;
  }

  #tell(inside: string): void {
    const name = tagName.exec(inside)?.[1];
    if (name === undefined) return;
    const text = this.#text;
    this.#text = '';
    if (text.trim() !== '') this.#events.text(decoded(text));
    if (inside.startsWith('/')) {
      this.#events.close(name);
      return;
    }
    const attributes = new Map<string, string>();
    for (const [, key, double, single] of inside.slice(name.length).matchAll(attribute))
      attributes.set(key as string, decoded((double ?? single ?? '').slice(0, outputLimits.valueChars)));
    this.#events.open(name, attributes);
    if (inside.endsWith('/')) this.#events.close(name);
  }
}

function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
