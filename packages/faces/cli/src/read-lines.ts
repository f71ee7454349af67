import { cliLimits } from './limits.ts';

/** A line of text with its number, from 1. A longer line than the limit is given as `null`; its end is looked for. */
export interface NumberedLine {
  readonly number: number;
  readonly text: string | null;
}

/** Lines of UTF-8 text as they come; memory is one line, whatever the length of the input. */
export async function* readLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine[]> {
  const decoder = new TextDecoder('utf-8');
  let pending = '';
  let tooLong = false;
  let number = 0;
  const take = (text: string): NumberedLine => {
    number += 1;
    const line = tooLong || pending.length + text.length > cliLimits.lineChars ? null : pending + text;
    pending = '';
    tooLong = false;
    return { number, text: line };
  };
  for await (const chunk of input) {
    const parts = decoder.decode(chunk, { stream: true }).split('\n');
    const rest = parts.pop() ?? '';
    const lines = parts.map(take);
    if (pending.length + rest.length > cliLimits.lineChars) tooLong = true;
    pending = tooLong ? '' : pending + rest;
    if (lines.length > 0) yield lines;
  }
  const rest = decoder.decode();
  if (pending + rest !== '' || tooLong) yield [take(rest)];
}
