import type { Answer, LineReader } from '../readers/reader.ts';

/** The bytes with which a passing test's line begins and ends. */
export interface Passing {
  readonly begins: Buffer;
  readonly ends: Buffer;
}

/** A tool's reader at work on one channel. */
export interface Started {
  readonly tool: string;
  readonly channel: Divided;
  readonly reader: LineReader;
  /** See `ToolReader.passing`. */
  readonly passing: readonly Passing[];
  /** How many failing items the tool has named on this channel. */
  keys(): number;
}

/** What a channel does with the lines that nobody took. Those inside a session are apart from those outside. */
export interface Divided {
  /** Those since the last boundary belong to the session that begins. */
  adopt(): void;
  /** A boundary: those before it stay, whatever comes. */
  divide(): void;
  /** The session came to its end: those inside it were noise. */
  forget(): void;
}

/** Whose tests are running, for all channels of one output: a test prints on any of them. */
export class Sessions {
  open: Started | null = null;
  readonly #channels: Divided[] = [];

  join(channel: Divided): void {
    this.#channels.push(channel);
  }

  answered(reader: Started, answer: Answer): void {
    if (answer === 'open' || answer === 'adopt') this.#begin(reader, answer === 'adopt');
    else if (this.open === reader) {
      this.open = null;
      for (const channel of this.#channels) channel.forget();
    }
  }

  /** Another command begins: its output is nobody's noise. */
  boundary(): void {
    for (const channel of this.#channels) channel.divide();
    this.open = null;
  }

  /** The open session's runner said what fails: what its tests print explains nothing. */
  hasNamedFailures(): boolean {
    return this.open !== null && this.open.keys() > 0;
  }

  #begin(reader: Started, adopts: boolean): void {
    if (this.open === reader) return;
    for (const channel of this.#channels) {
      if (this.open !== null || !adopts) channel.divide();
      else channel.adopt();
    }
    this.open = reader;
  }
}
