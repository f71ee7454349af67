import type { IdentityArchive } from '../ports.ts';

/** Questions to the archive under way at once. */
const QUESTIONS = 2;
/** Keys after which a question takes in no further request. */
const KEYS = 2_000;

type Lookup = IdentityArchive['lookup'];
type Found = Awaited<ReturnType<Lookup>>;

interface Asking {
  readonly keys: readonly string[];
  readonly resolve: (found: Found) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Asks for many requests at once: while questions are under way, what else is asked for waits and goes into the next one.
 * An answer is never older than the asking. A question that fails fails for all that were in it.
 */
export function askTogether(lookup: Lookup): Lookup {
  const waiting: Asking[] = [];
  let underWay = 0;
  const ask = async () => {
    const asked: Asking[] = [];
    for (let keys = 0; waiting.length > 0 && keys < KEYS; ) {
      const next = waiting.shift() as Asking;
      keys += next.keys.length;
      asked.push(next);
    }
    underWay += 1;
    try {
      const found = await lookup(asked.flatMap(({ keys }) => keys));
      for (const { resolve } of asked) resolve(found);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    } finally {
      underWay -= 1;
      if (waiting.length > 0) void ask();
    }
  };
  return (keys) =>
    new Promise((resolve, reject) => {
      waiting.push({ keys, resolve, reject });
      if (underWay < QUESTIONS) void ask();
    });
}
