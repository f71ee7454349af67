import type { EvidenceOf, Problem, SignatureReading } from '@headway/contracts';
import type { Result } from '@headway/kernel';

/** The identities of everything in the archive, for ever. */
export interface IdentityArchive {
  /** Up to where the archive covers EVIDENCE, that place included; generation and sequence 0 = nothing yet. */
  archived(): Promise<{ readonly generation: number; readonly sequence: number }>;
  /** The content digest and sequence of each known key; keys that nobody used are absent. */
  lookup(
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly content: string; readonly sequence: number }>>;
}

/** Whether the log is the one that was archived, and holds all of it. */
export interface BusLevel {
  /** Looks now. `null` = it is; else what is wrong, for a person. Throws where the log or the store cannot be asked. */
  check(): Promise<string | null>;
  /** What is known to be wrong without asking. */
  lost(): string | null;
}

type Attempt = EvidenceOf<'headway.gate.attempted'>['data'];

/** Reads the failing set of a gate attempt, and its signature. Pure. */
export type ReadAttempt = (attempt: Attempt) => {
  readonly failures: NonNullable<Attempt['failures']>;
  readonly signature: SignatureReading;
};

/** Which signals there are, as the views know them. */
export interface SignalDirectory {
  /** A work that the signal is about; `null` = no such signal is known. */
  threadOf(tenant: string, signal: string): Promise<string | null>;
  /** Up to where the view covers RECORD. */
  recorded(): Promise<{ readonly generation: number; readonly sequence: number }>;
}

/** The work on whose thread a signal is answered, or why that cannot be told. */
export type FindThread = (tenant: string, signal: string) => Promise<Result<string, Problem>>;
