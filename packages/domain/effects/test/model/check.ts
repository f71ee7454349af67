import { nextWorlds } from './steps.ts';
import { initialWorld, type Rules, type World } from './world.ts';

/** Worlds looked at before a check gives up: far above what any of them needs. */
const MOST_WORLDS = 2_000_000;

type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I9';

const invariants: Readonly<Record<Invariant, (world: World) => boolean>> = {
  I1: ({ target }) => target.effects <= 1,
  I2: ({ operation, target }) => operation.state !== 'SUCCEEDED' || target.effects > 0,
  I3: ({ operation, target }) => operation.state !== 'FAILED' || target.effects === 0,
  I4: ({ operation, requests }) => operation.state !== 'FAILED' || requests.length === 0,
  I5: ({ broken }) => !broken.staleMove,
  I6: ({ broken }) => !broken.epochReused,
  I7: ({ broken }) => !broken.unauthorisedStart,
  I9: ({ broken }) => !broken.terminalMoved,
};

export interface Checked {
  /** The invariants that the nearest broken world breaks; none = no world does. */
  readonly broken: readonly Invariant[];
  readonly worlds: number;
  /** The shortest way to the first broken world. */
  readonly trace: readonly string[];
  /** States of the operation that were reached. */
  readonly reached: ReadonlySet<string>;
}

/** Looks at every world that can come about, breadth first, until one breaks an invariant. */
export function check(rules: Rules): Checked {
  const start = initialWorld();
  const cameFrom = new Map<string, { readonly key: string; readonly label: string } | null>();
  const queue: World[] = [start];
  cameFrom.set(keyOf(start), null);
  const reached = new Set<string>();
  for (let at = 0; at < queue.length; at += 1) {
    const world = queue[at] as World;
    const key = keyOf(world);
    reached.add(world.operation.state);
    const found = (Object.keys(invariants) as Invariant[]).filter((name) => !invariants[name](world));
    if (found.length > 0) return { broken: found, worlds: queue.length, trace: wayTo(key, cameFrom), reached };
    for (const next of nextWorlds(world, rules)) {
      const nextKey = keyOf(next.world);
      if (cameFrom.has(nextKey)) continue;
      cameFrom.set(nextKey, { key, label: next.label });
      queue.push(next.world);
    }
    if (queue.length > MOST_WORLDS) throw new Error(`more than ${MOST_WORLDS} worlds`);
  }
  return { broken: [], worlds: queue.length, trace: [], reached };
}

/** One text per world; requests and replies are sets. */
function keyOf(world: World): string {
  const { claim, operation: op, target, broken } = world;
  const workers = world.workers.map(({ step, epoch }) => `${step}${epoch}`).join();
  const requests = world.requests
    .map(({ from, epoch, condition }) => `${from}${epoch}${condition}`)
    .sort()
    .join();
  const replies = world.replies
    .map(({ to, epoch, said }) => `${to}${epoch}${said}`)
    .sort()
    .join();
  return `${claim.epoch}${claim.holder}|${world.verdict}|${op.state}${op.epoch}${op.attempts}|${workers}|${requests}|${replies}|${target.effects}${target.knowsKey}${target.version}${target.gate}${target.refuses}|${world.sends}${world.quiet}|${broken.staleMove}${broken.unauthorisedStart}${broken.terminalMoved}${broken.epochReused}`;
}

function wayTo(key: string, cameFrom: ReadonlyMap<string, { readonly key: string; readonly label: string } | null>) {
  const labels: string[] = [];
  for (let from = cameFrom.get(key); from != null; from = cameFrom.get(from.key)) labels.unshift(from.label);
  return labels;
}
