/** A key of the failing set with the line it was first seen in. */
export interface Failure {
  readonly key: string;
  readonly message?: string;
}

/** What a reader found by the end of the output. */
export interface Found {
  /** The tool that spoke, `null` where the reader does not know. */
  readonly tool: string | null;
  readonly failures: readonly Failure[];
  /** Nothing but a service, a network or a program that the gate needs was the matter. */
  readonly infrastructure: boolean;
}

/**
 * Reads one tool's lines. Output of several tools at once is offered line by line to the readers in the order of the
 * registry; the first that takes a line has it, and each gives its part.
 */
export interface ToolReader {
  /** `true` = the line was this tool's. `line` is clean: no escapes, no CI prefix, at most `lineChars`. */
  take(line: string): boolean;
  end(): Found;
}
