import { limits } from '@headway/contracts';
import { cliLimits } from '../limits.ts';

/** Keeps the beginning and the end of what comes, as it came. Memory is bounded whatever comes. */
export class KeptOutput {
  readonly #half = cliLimits.outputHalfBytes;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;

  push(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = this.#half - this.#headBytes;
    const first = chunk.subarray(0, Math.max(0, room));
    if (first.length > 0) {
      this.#head.push(Buffer.from(first));
      this.#headBytes += first.length;
    }
    const rest = chunk.subarray(first.length);
    if (rest.length === 0) return;
    const last = Buffer.from(rest.subarray(-this.#half));
    this.#tail.push(last);
    this.#tailBytes += last.length;
    while (this.#tail.length > 1 && this.#tailBytes - (this.#tail[0] as Buffer).length >= this.#half)
      this.#tailBytes -= (this.#tail.shift() as Buffer).length;
    // Many small chunks are joined now and then, so that their number is bounded too.
    if (this.#tail.length > 1_024) this.#tail = [Buffer.concat(this.#tail).subarray(-this.#half)];
    this.#tailBytes = this.#tail.length === 1 ? (this.#tail[0] as Buffer).length : this.#tailBytes;
  }

  /** UTF-8 text of at most 64 KiB; broken bytes are shown as such. */
  text(): string {
    const tail = Buffer.concat(this.#tail).subarray(-this.#half);
    const left = this.#total - this.#headBytes - tail.length;
    const whole = left === 0 ? Buffer.concat([...this.#head, tail]).toString('utf8') : null;
    if (whole !== null && Buffer.byteLength(whole) <= limits.outputBytes) return whole;
    const end = trim(tail.toString('utf8'), -this.#half);
    return `${trim(Buffer.concat(this.#head).toString('utf8'), this.#half)}\n[${left} bytes left out]\n${end}`;
  }
}

/** The first (or, below zero, last) bytes of a text, without a cut character. */
function trim(text: string, bytes: number): string {
  const raw = Buffer.from(text);
  if (raw.length <= Math.abs(bytes)) return text;
  const cut = bytes > 0 ? raw.subarray(0, bytes) : raw.subarray(bytes);
  return cut.toString('utf8').replace(/^\ufffd{1,3}|\ufffd{1,3}$/g, '');
}
