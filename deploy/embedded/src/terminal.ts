/** What the supervisor says: progress and warnings on stderr, the ready message on stdout. */
export interface Terminal {
  say(line: string): void;
  print(text: string): void;
}

export const realTerminal: Terminal = {
  say: (line) => void process.stderr.write(`headway: ${line}\n`),
  print: (text) => void process.stdout.write(`${text}\n`),
};

/** A failure whose message already says what to do; it is printed without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
