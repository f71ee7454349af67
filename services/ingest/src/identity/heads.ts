/** Works whose newest message is kept in memory; of the others the server tells it at the next append. */
export const HEAD_ENTRIES = 200_000;

/** The newest message of a subject of EVIDENCE as this process knows it. */
export interface Head {
  /** Its sequence; 0 = none, or not known: an append that expects it is refused where there is one. */
  readonly last: number;
  /** Another one after each message of somebody else: whoever sees it unchanged knows of every message up to `last`. */
  readonly mark: number;
}

const UNKNOWN: Head = { last: 0, mark: 0 };

/**
 * What makes an identity safe with several replicas: an append expects the newest message of its work as it was known
 * when the identities were looked up. Whatever came from elsewhere in between makes it a conflict, or another mark.
 */
export function createHeads(most: number = HEAD_ENTRIES) {
  const heads = new Map<string, Head>();
  let marks = 0;
  const set = (subject: string, head: Head) => {
    heads.delete(subject);
    heads.set(subject, head);
    if (heads.size <= most) return;
    for (const oldest of heads.keys()) {
      heads.delete(oldest);
      return;
    }
  };
  const of = (subject: string): Head => heads.get(subject) ?? UNKNOWN;
  return {
    of,
    /** An append of this process stands at a sequence; its identities are entered already. */
    own(subject: string, sequence: number): void {
      const { last, mark } = of(subject);
      if (sequence > last) set(subject, { last: sequence, mark });
    },
    /** Whether the identities of a message are entered already: what stands up to the head is known. */
    covers: (subject: string, sequence: number): boolean => sequence <= of(subject).last,
    /** A message was read whose identities are entered now. What this process wrote itself changes nothing. */
    read(subject: string, sequence: number): void {
      if (sequence > of(subject).last) set(subject, { last: sequence, mark: ++marks });
    },
    /** The server told the newest message of a subject, and everything up to it has been read. */
    told(subject: string, sequence: number): void {
      set(subject, { last: sequence, mark: ++marks });
    },
    clear(): void {
      heads.clear();
    },
  };
}
export type Heads = ReturnType<typeof createHeads>;

/** Lets one after the other append under a subject: each append names the one before it. */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return {
    run<Value>(subject: string, step: () => Promise<Value>): Promise<Value> {
      const turn = (last.get(subject) ?? Promise.resolve()).then(step, step);
      last.set(subject, turn);
      const leave = () => {
        if (last.get(subject) === turn) last.delete(subject);
      };
      turn.then(leave, leave);
      return turn;
    },
  };
}
export type Turns = ReturnType<typeof createTurns>;
