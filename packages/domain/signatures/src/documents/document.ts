import type { Report } from '../readers/reader.ts';

/**
 * - `undecided`: it may still be something else (only within the first `outputLimits.undecidedChars`).
 * - `foreign`: it is no such document: what was written is read as lines.
 * - `reading`: it is one, and more comes.
 * - `done`: it is complete.
 */
export type DocumentState = 'undecided' | 'foreign' | 'reading' | 'done';

/**
 * Reads output that is one document (a report printed to the terminal) as it comes. The document is recognised by its
 * first line; what comes after its end is read as lines again.
 */
export interface DocumentReader {
  /** A piece of the document; lines are ended by `\n`. */
  write(piece: string): DocumentState;
  /** The output is over, or the document is. */
  end(): void;
  /** A test runner's report: what nobody took before it was printed by its tests. Absent = no. */
  readonly isOfTests?: boolean;
}

export interface DocumentFormat {
  /** Whether a line may be the first one of such a document. */
  begins(text: string): boolean;
  /** `report` gives where a tool's failures go. */
  start(report: (tool: string) => Report): DocumentReader;
}
