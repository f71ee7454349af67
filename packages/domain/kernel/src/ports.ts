/** The wall clock. Nothing in `domain` may hold one; services show its time and never decide by it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** A source of new unique ids. */
export interface Ids {
  /** A new id, unique for ever, sortable by creation where the adapter can. */
  next(): string;
}
