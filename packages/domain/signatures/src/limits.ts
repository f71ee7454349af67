import { limits } from '@headway/contracts';

/** What bounds the reading of output, whatever its size. */
export const outputLimits = {
  /** Bytes of one line that are looked at; the rest of a longer line is skipped. */
  lineChars: 4_096,
  /** Distinct failing keys that are kept. Of more, the smallest in text order, so that their order of arrival is nothing. */
  keys: limits.failures,
  /** Characters of one key; longer ones are cut. */
  keyChars: 500,
  /** Characters of the message that is kept with a key. */
  messageChars: 500,
  /** Lines that are remembered as read, so that one that is said again and again is masked once. */
  remembered: 4_096,
  /** Programs side by side, told apart by what stands before their lines. */
  lanes: 64,
  /** Lines that a reader may hold in a row; then it has to be woken again. */
  heldLines: 1_000,
  /** Characters of a value in a document (XML, JSON) that are kept. */
  valueChars: 1_024,
  /** Characters of what may be a document, until it must have been recognised. */
  undecidedChars: 8_192,
  /** Headings (suites) that may enclose a test's line. */
  headings: 16,
} as const;
