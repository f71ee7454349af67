/**
 * Packs calls that are made while another is under way into one: one round trip and one commit for many. Calls are taken in
 * the order in which they were made; each is answered with its own member of the batch's answer, or with its error.
 */
export function microBatch<Item, Answer>(
  most: number,
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
): (item: Item) => Promise<Answer> {
  interface Waiting {
    readonly item: Item;
    readonly done: (answer: Answer) => void;
    readonly failed: (error: unknown) => void;
  }
  const waiting: Waiting[] = [];
  let running = 0;
  /** Two at a time keep the store busy while the answers of one are read. */
  const LANES = 2;

  const next = async (): Promise<void> => {
    if (running >= LANES || waiting.length === 0) return;
    running += 1;
    const batch = waiting.splice(0, most);
    try {
      const answers = await run(batch.map(({ item }) => item));
      for (const [at, { done }] of batch.entries()) done(answers[at] as Answer);
    } catch (error) {
      for (const { failed } of batch) failed(error);
    } finally {
      running -= 1;
      void next();
    }
  };

  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed });
      // What is called in this turn of the loop goes together.
      if (waiting.length === 1) queueMicrotask(() => void next());
      else void (waiting.length >= most ? next() : undefined);
    });
}
