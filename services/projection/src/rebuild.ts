import { randomUUID } from 'node:crypto';
import { type Changes, isStoreAway, type Rebuild } from '@headway/readmodel';
import { backoffDelay, defaultBackoff, type Logger, pause } from '@headway/runtime';
import { projectArchived, replay } from './apply/replay.ts';
import type { ChangeWatch } from './change-watch.ts';
import type { Decode } from './decode.ts';
import type { Ports } from './ports.ts';
import { createPages, type Pages } from './rebuild-pages.ts';

/** A rebuild that was asked for is looked for so often. Milliseconds. */
const LOOK_AGAIN = 1_000;
/** A batch of no more messages than this is near enough to the end of the archive. */
const FEW = 1_000;
/** Tries of one step in a row that fail while the store answers; then the rebuild is given up. */
const STEP_TRIES = 5;

export interface RebuildingOptions {
  readonly ports: Pick<Ports, 'rebuilds'>;
  readonly decode: Decode;
  readonly watch: ChangeWatch;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Does the rebuilds that were asked for, one after another. Settles when the signal has aborted; never rejects. */
export async function rebuilding(options: RebuildingOptions): Promise<void> {
  const { ports, watch, logger, signal } = options;
  while (!signal.aborted) {
    const seen = watch.told;
    try {
      const rebuild = await ports.rebuilds.takeOn(randomUUID());
      if (rebuild !== null) await work(options, rebuild);
    } catch (error) {
      logger.warn({ err: error }, 'rebuilding is held up');
    }
    await watch.next(seen, LOOK_AGAIN, signal);
    await pause(LOOK_AGAIN / 4, signal);
  }
}

/** Builds the next generation from the archive alone, and lets it take its place. */
async function work(options: RebuildingOptions, rebuild: Rebuild): Promise<void> {
  const { logger, watch, signal } = options;
  const started = performance.now();
  logger.info({ rebuild: rebuild.id, messages: rebuild.total }, 'rebuilding');
  try {
    const pages = createPages(rebuild, options.decode);
    const built = await untilEnd(options, rebuild, pages);
    if (!built || !(await tried(options, () => rebuild.complete()))) return;
    // Again: what came while the indexes were made.
    if (!(await untilEnd(options, rebuild, pages))) return;
    const finish = async (changes: Changes, held: readonly string[]) => {
      let done = 0;
      for (let batch = await pages.next(); batch.length > 0; batch = await pages.next()) {
        await projectArchived(changes, batch, options.decode);
        pages.taken();
        done += batch.length;
      }
      for (const aggregate of held) await replay(changes, aggregate, options.decode);
      return done;
    };
    const switched = await tried(options, () => {
      pages.again();
      return rebuild.switch(finish);
    });
    if (switched)
      logger.info({ rebuild: rebuild.id, ms: performance.now() - started }, 'the rebuilt generation answers now');
    watch.notify();
  } catch (error) {
    if (signal.aborted) return;
    logger.error({ err: error, rebuild: rebuild.id }, 'a rebuild failed; the living generation is as it was');
    await rebuild.fail(error instanceof Error ? error.message : String(error));
  } finally {
    await rebuild.release().catch((error: unknown) => logger.warn({ err: error }, 'a rebuild was not put away'));
  }
}

/**
 * Projects batch after batch until few or none are left, for the archive may grow for ever: the switch takes in the rest.
 * `false` where the rebuild was called off, or is to end.
 */
async function untilEnd(options: RebuildingOptions, rebuild: Rebuild, pages: Pages): Promise<boolean> {
  for (;;) {
    if (options.signal.aborted) return false;
    const batch = await tried(options, () => pages.next());
    if (batch.length === 0) return true;
    const known = pages.known();
    const write = () =>
      rebuild.write(batch.length, known, (changes) => projectArchived(changes, batch, options.decode));
    if (!(await tried(options, write))) return false;
    pages.taken();
    if (batch.length <= FEW) return true;
  }
}

/** Tries a step again: for ever while the store is away, else {@link STEP_TRIES} times; then throws what it threw. */
async function tried<Value>(options: RebuildingOptions, step: () => Promise<Value>): Promise<Value> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await step();
    } catch (error) {
      if (options.signal.aborted || (failures >= STEP_TRIES && !isStoreAway(error))) throw error;
      options.logger.warn({ err: error }, 'a step of a rebuild is tried again');
      await pause(backoffDelay(failures, defaultBackoff, Math.random()), options.signal);
    }
  }
}
