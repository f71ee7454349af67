/**
 * One thing at a time: the evidence and the answers of the signaller change the same works, each in several steps with
 * writes between them.
 */
export interface Turn {
  /** Runs when every run before it has ended. */
  run<Value>(step: () => Promise<Value>): Promise<Value>;
  /** Called inside a run: gives the turn away until `event` is there, then goes on as the next in line. */
  standAside(event: Promise<void>): Promise<void>;
}

export function createTurn(): Turn {
  let held = false;
  const waiting: (() => void)[] = [];
  const take = async () => {
    if (!held) {
      held = true;
      return;
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const give = () => {
    const next = waiting.shift();
    if (next === undefined) held = false;
    else next();
  };
  return {
    run: async (step) => {
      await take();
      try {
        return await step();
      } finally {
        give();
      }
    },
    standAside: async (event) => {
      give();
      try {
        await event;
      } finally {
        await take();
      }
    },
  };
}
