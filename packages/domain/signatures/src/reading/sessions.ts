import type { Answer } from '../readers/reader.ts';
import type { Channel, Started } from './channel.ts';

/** Whose tests are running, for all channels of one output: a test prints on any of them. */
export class Sessions {
  open: Started | null = null;
  /** At least one came to its proper end. */
  closed = false;
  readonly #channels: Channel[] = [];

  join(channel: Channel): void {
    this.#channels.push(channel);
  }

  answered(reader: Started, answer: Answer): void {
    if (answer === 'open' || answer === 'adopt') this.#begin(reader, answer === 'adopt');
    else if (this.open === reader) {
      this.open = null;
      this.closed = true;
      for (const channel of this.#channels) channel.divide();
    }
  }

  /** Another command begins: its output is nobody's noise. */
  boundary(): void {
    this.open = null;
    for (const channel of this.#channels) channel.divide();
  }

  #begin(reader: Started, adopts: boolean): void {
    if (this.open === reader) return;
    for (const channel of this.#channels)
      if (adopts) channel.disown();
      else channel.divide();
    this.open = reader;
  }
}
