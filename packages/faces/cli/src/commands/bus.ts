import { connectBus, LogUnavailable, provisionStreams } from '@headway/eventlog';
import {
  openReadModel,
  planRestore,
  type ReadModel,
  type RestoredStream,
  type RestoreProgress,
  restoreBus,
  type StreamPlan,
  type Trimmed,
  trimBus,
} from '@headway/readmodel';
import { type Context, print, printJson, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { type BusAccess, busAccess } from './bus-access.ts';

const NAME = 'headway bus';
const DAY_SECONDS = 86_400;

interface Options {
  readonly json?: boolean;
}

/** Makes the declared streams, or brings the settings of those that exist to what is declared. */
export async function busProvision(context: Context, options: Options): Promise<number> {
  return reaching(context, async ({ natsUrl, replicas }) => {
    const streams = await provisionStreams({ servers: natsUrl, name: NAME, replicas });
    if (options.json === true) printJson(context, { streams });
    else for (const { stream, change, refused } of streams) print(context, `${stream} ${refused ?? change}`);
    return streams.some(({ change }) => change === 'refused') ? exitCodes.refused : exitCodes.ok;
  });
}

/** Compares the streams with the archive, and with `--yes` puts them back from it. */
export async function busRestore(context: Context, options: Options & { readonly yes?: boolean }): Promise<number> {
  return withBus(context, async (parts) => {
    const plans = await planRestore(parts);
    if (options.yes !== true) {
      if (options.json === true) printJson(context, { dryRun: true, streams: plans.map(planView) });
      else {
        for (const plan of plans) print(context, planText(plan));
        const todo = plans.some(({ found }) => found !== 'level');
        print(context, todo ? 'Nothing was changed. Run it again with --yes to do so.' : 'Every stream is level.');
      }
      return exitCodes.ok;
    }
    const streams = await restoreBus({ ...parts, onProgress: progressOn(context) });
    // A stream that had to be made anew has lost the durable consumers that were declared on it.
    const { natsUrl, replicas } = busAccess(context.environment, context.cwd);
    await provisionStreams({ servers: natsUrl, name: NAME, replicas });
    if (options.json === true) printJson(context, { dryRun: false, streams });
    else for (const stream of streams) print(context, restoredText(stream));
    return exitCodes.ok;
  });
}

/** Takes out of the ageing streams what is old, archived and folded. */
export async function busTrim(
  context: Context,
  options: Options & { readonly olderThan: number; readonly yes?: boolean },
): Promise<number> {
  return withBus(context, async (parts) => {
    const dryRun = options.yes !== true;
    const streams = await trimBus(
      { ...parts, now: Date.now() },
      { olderThanSeconds: options.olderThan * DAY_SECONDS, dryRun },
    );
    if (options.json === true) printJson(context, { dryRun, streams });
    else for (const stream of streams) print(context, trimmedText(stream, dryRun));
    return exitCodes.ok;
  });
}

type Parts = Parameters<typeof restoreBus>[0];

function withBus(context: Context, step: (parts: Parts) => Promise<number>): Promise<number> {
  return reaching(context, async ({ natsUrl, postgresUrl, replicas }) => {
    const model: ReadModel = openReadModel({ url: postgresUrl, connections: 3, name: NAME });
    try {
      await model.ping();
      const bus = await connectBus({ servers: natsUrl, name: NAME, replicas });
      try {
        return await step({ ...model, bus, records: model.bus });
      } finally {
        await bus.close();
      }
    } finally {
      await model.close();
    }
  });
}

async function reaching(context: Context, step: (access: BusAccess) => Promise<number>): Promise<number> {
  let access: BusAccess;
  try {
    access = busAccess(context.environment, context.cwd);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    say(context, error.message);
    return exitCodes.usage;
  }
  try {
    return await step(access);
  } catch (error) {
    say(context, error instanceof Error ? error.message : String(error));
    return error instanceof LogUnavailable ? exitCodes.unavailable : exitCodes.failed;
  }
}

/** One line that is written over again where a person watches; else one at the end of each part. */
function progressOn({ stderr }: Context): (progress: RestoreProgress) => void {
  const terminal = 'isTTY' in stderr && stderr.isTTY === true;
  return ({ stream, done, of }) => {
    if (terminal) stderr.write(`\r${stream}: ${done} of ${of}${done === of ? '\n' : ''}`);
    else if (done === of) stderr.write(`${stream}: ${done} of ${of}\n`);
  };
}

const planView = ({ stream, found, end, now, agreed, toPublish, newcomers, generation }: StreamPlan) => ({
  stream,
  found,
  archived: end.sequence,
  endsAt: now?.lastSequence ?? null,
  agreed,
  toPublish,
  newcomers,
  lostUpTo: end.lostUpTo === 0 ? null : end.lostUpTo,
  generation: { before: end.generation, after: generation },
});

function planText({ stream, found, end, now, toPublish, newcomers, generation }: StreamPlan): string {
  const ends = now === null ? 'is not there' : `ends at ${now.lastSequence}`;
  const head = `${stream} ${found}: it ${ends}, the archive at ${end.sequence}`;
  if (found === 'level') return head;
  const moved = newcomers === 0 ? '' : `; ${newcomers} messages that stand in their place are moved behind them`;
  const next = generation === end.generation ? '' : `; generation ${generation}`;
  return `${head}; ${toPublish} archived messages are put back${moved}${next}`;
}

function restoredText({ stream, found, published, endsAt, gap, kept, generation, withoutId }: RestoredStream): string {
  if (found === 'level') return `${stream} was level`;
  const lost =
    gap === null
      ? 'no acknowledged message is known to be lost'
      : `lost for good: ${gap.count} acknowledged messages, sequences ${gap.first} to ${gap.last}`;
  const moved = Object.entries(kept)
    .filter(([, count]) => count > 0)
    .map(([fate, count]) => `${count} ${fate}`);
  return [
    `${stream} (${found}): ${published} messages put back, it ends at ${endsAt}, generation ${generation.after}; ${lost}`,
    ...(moved.length === 0 ? [] : [`  of the messages that stood in their place: ${moved.join(', ')}`]),
    ...(withoutId === 0 ? [] : [`  ${withoutId} of them without the message id they had`]),
  ].join('\n');
}

function trimmedText(
  { stream, upTo, archived, covered, firstPolicy, removed, refused }: Trimmed,
  dryRun: boolean,
): string {
  if (refused !== null) return `${stream}: nothing, ${refused}`;
  if (upTo === 0) return `${stream}: nothing is old enough, archived and folded`;
  const proof = `archived up to ${archived}${covered === null ? '' : `, folded up to ${covered}`}${firstPolicy === null ? '' : `, kept from the first policy at ${firstPolicy} on`}`;
  return dryRun
    ? `${stream}: everything up to ${upTo} would go (${proof}). Run it again with --yes`
    : `${stream}: ${removed} messages up to ${upTo} taken out (${proof})`;
}
