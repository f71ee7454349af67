import { outputLimits } from '../limits.ts';

export type JsonValue = string | number | boolean | null | JsonObject | JsonList;
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}
export type JsonList = readonly JsonValue[];

export interface JsonEvents {
  /** The name of a member, before its value; members of the outermost object have depth 1. */
  member(name: string, depth: number): void;
  /**
   * An object is complete. `true` = it is done with: the objects and lists around it do not keep it.
   * `place` is the name of the member that it, or the list it is in, belongs to.
   */
  object(value: JsonObject, place: string | null): boolean;
}

interface Frame {
  readonly value: Record<string, JsonValue> | JsonValue[];
  /** The member that this one is the value of, through lists. */
  readonly place: string | null;
  name: string | null;
  /** Values kept in it, all levels. */
  size: number;
}

const MOST_DEPTH = 64;
/** Values that one object may hold, all levels; further ones are dropped. */
const MOST_VALUES = 256;

/**
 * Reads JSON as it comes, whatever is broken or missing in it, and tells of each object when it is complete. Memory is
 * bounded: strings are cut at `outputLimits.valueChars`, objects keep `MOST_VALUES`, what was done with is not kept.
 */
export class JsonScanner {
  /** Nothing is open: the document is complete, or has not begun. */
  get depth(): number {
    return this.#frames.length + this.#deeper;
  }
  readonly #events: JsonEvents;
  readonly #frames: Frame[] = [];
  #deeper = 0;
  #inString = false;
  #escaped = false;
  #string = '';
  #word = '';
  /** A string that is a name if a colon follows. */
  #last: string | null = null;

  constructor(events: JsonEvents) {
    this.#events = events;
  }

  /** Reads on; returns at the end of the outermost object, with the place after it, else the length. */
  write(text: string): number {
    let at = 0;
    while (at < text.length) {
      if (this.#inString) {
        at = this.#readString(text, at);
        continue;
      }
      const char = text[at] as string;
      at += 1;
      if (char === '"') {
        this.#inString = true;
        this.#string = '';
      } else if (char === '{' || char === '[') this.#open(char === '[');
      else if (char === '}' || char === ']') {
        this.#close();
        if (this.depth === 0) return at;
      } else if (char === ':') this.#name();
      else if (char === ',') this.#value();
      else if (char > ' ' && this.#word.length < 40) this.#word += char;
    }
    return at;
  }

  #readString(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (this.#escaped) this.#escaped = false;
      else if (code === 0x5c) this.#escaped = true;
      else if (code === 0x22 || code === 0x0a) break;
      at += 1;
    }
    const room = outputLimits.valueChars - this.#string.length;
    if (room > 0) this.#string += text.slice(from, Math.min(at, from + room));
    if (at === text.length) return at;
    this.#inString = false;
    this.#last = unescaped(this.#string);
    return at + 1;
  }

  #open(isList: boolean): void {
    if (this.#frames.length >= MOST_DEPTH) {
      this.#deeper += 1;
      return;
    }
    const around = this.#frames.at(-1);
    const place = around === undefined ? null : Array.isArray(around.value) ? around.place : around.name;
    this.#frames.push({ value: isList ? [] : {}, place, name: null, size: 1 });
    this.#last = null;
    this.#word = '';
  }

  #close(): void {
    if (this.#deeper > 0) {
      this.#deeper -= 1;
      return;
    }
    this.#value();
    const frame = this.#frames.pop();
    if (frame === undefined) return;
    const isDone = !Array.isArray(frame.value) && this.#events.object(frame.value, frame.place);
    if (!isDone) this.#keep(frame.value, frame.size);
  }

  #name(): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined || Array.isArray(frame.value) || this.#last === null) return;
    frame.name = this.#last;
    this.#last = null;
    this.#word = '';
    this.#events.member(frame.name, this.#frames.length);
  }

  /** The plain value that was read, if any, belongs to the open object or list. */
  #value(): void {
    const [text, word] = [this.#last, this.#word];
    this.#last = null;
    this.#word = '';
    if (text !== null) this.#keep(text, 1);
    else if (word === 'true' || word === 'false') this.#keep(word === 'true', 1);
    else if (word === 'null') this.#keep(null, 1);
    else if (/^-?\d/.test(word)) this.#keep(Number(word), 1);
  }

  #keep(value: JsonValue, size: number): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    const fits = frame.size + size <= MOST_VALUES;
    if (fits) frame.size += size;
    if (Array.isArray(frame.value)) {
      if (fits) frame.value.push(value);
    } else if (frame.name !== null) {
      if (fits && frame.name !== '__proto__') frame.value[frame.name] = value;
      frame.name = null;
    }
  }
}

function unescaped(raw: string): string {
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
export const textOf = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);
export const listOf = (value: JsonValue | undefined): JsonList => (Array.isArray(value) ? value : []);
