import type { EffectState } from '@headway/contracts';
import { MOST_EPOCHS, MOST_SENDS, type Rules, type World } from './world.ts';

export interface Next {
  readonly label: string;
  readonly world: World;
}

const TERMINAL: readonly EffectState[] = ['SUCCEEDED', 'FAILED', 'ABANDONED'];
const STARTABLE: readonly EffectState[] = ['ADMITTED', 'RETRY_AUTHORISED'];

/** Everything that may happen next: any worker's step, a crash, an expiry, the network, a person. Pure. */
export function nextWorlds(world: World, rules: Rules): readonly Next[] {
  const next: Next[] = [];
  const add = (label: string, change: Partial<World>) => next.push({ label, world: { ...world, ...change } });
  environment(world, rules, add);
  for (const at of world.workers.keys()) worker(world, rules, at, add);
  network(world, rules, add);
  return next;
}

type Add = (label: string, change: Partial<World>) => void;

function environment(world: World, { guards }: Rules, add: Add): void {
  const { claim, operation, target } = world;
  if (claim.holder !== null) {
    const epoch = guards.expiryKeepsEpoch ? claim.epoch : claim.epoch - 1;
    add('the lease ends', { claim: { epoch, holder: null } });
  }
  if (world.verdict === 'True' && operation.attempts === 0) add('revoked', { verdict: 'revoked' });
  if (!target.refuses && operation.attempts > 0)
    add('the target refuses from now on', { target: { ...target, refuses: true } });
  if (!guards.keyOutlivesRepeats && target.knowsKey)
    add('the key is forgotten', { target: { ...target, knowsKey: false } });
  if (operation.state === 'UNCERTAIN') add('a person abandons it', { operation: { ...operation, state: 'ABANDONED' } });
  if (!world.quiet && world.requests.length === 0 && operation.state === 'UNCERTAIN')
    add('the processing bound passes', { quiet: true });
}

const withWorker = (world: World, at: number, change: World['workers'][number]) =>
  world.workers.map((worker, index) => (index === at ? change : worker));

function worker(world: World, rules: Rules, at: number, add: Add): void {
  const { claim, operation, workers } = world;
  const own = workers[at];
  if (own === undefined) return;
  if (own.step !== 'idle') add(`${at} crashes`, { workers: withWorker(world, at, { step: 'idle', epoch: 0 }) });
  if (
    own.step === 'idle' &&
    claim.holder === null &&
    claim.epoch < MOST_EPOCHS &&
    !TERMINAL.includes(operation.state)
  ) {
    const epoch = claim.epoch + 1;
    const reused = workers.some((other) => other.step !== 'idle' && other.epoch >= epoch) || operation.epoch >= epoch;
    add(`${at} claims ${epoch}`, {
      claim: { epoch, holder: at },
      workers: withWorker(world, at, { step: 'claimed', epoch }),
      ...(reused ? { broken: { ...world.broken, epochReused: true } } : {}),
    });
  }
  if (own.step === 'claimed') claimed(world, rules, at, add);
  else if (own.step === 'started' || own.step === 'checked') send(world, rules, at, add);
  else if (own.step === 'waiting') wait(world, rules, at, add);
}

function claimed(world: World, rules: Rules, at: number, add: Add): void {
  const { claim, operation, workers, verdict } = world;
  const { guards } = rules;
  const epoch = workers[at]?.epoch ?? 0;
  const current = claim.epoch === epoch && claim.holder === at;
  const started = withWorker(world, at, { step: 'started', epoch });
  const mayStart = (current || !guards.startChecksEpoch) && (verdict === 'True' || !guards.startChecksVerdict);
  if (STARTABLE.includes(operation.state) && mayStart) {
    const broken = {
      ...world.broken,
      staleMove: world.broken.staleMove || epoch < claim.epoch,
      unauthorisedStart: world.broken.unauthorisedStart || verdict !== 'True',
    };
    const durable = { operation: { state: 'STARTED', epoch, attempts: operation.attempts + 1 } as const };
    add(`${at} starts ${epoch}`, { workers: started, broken, ...(guards.startIsDurableFirst ? durable : {}) });
  }
  if (operation.state === 'STARTED' && operation.epoch !== epoch && current) {
    if (guards.takeoverIsUncertain)
      add(`${at} takes over: uncertain`, { operation: { ...operation, state: 'UNCERTAIN', epoch } });
    else add(`${at} takes over and sends again`, { operation: { ...operation, epoch }, workers: started });
  }
  if (operation.state === 'UNCERTAIN' && current) reconcile(world, rules, at, add);
}

/** A look at the target under the newest epoch, and the table of classes. */
function reconcile(world: World, { class: is, guards }: Rules, at: number, add: Add): void {
  const { operation, target, workers } = world;
  const epoch = workers[at]?.epoch ?? 0;
  const retry = () =>
    add(`${at} sees nothing: retry`, { operation: { ...operation, state: 'RETRY_AUTHORISED', epoch } });
  const observable = is === 'C' || is === 'P';
  if (observable && target.effects > 0)
    add(`${at} sees the effect`, { operation: { ...operation, state: 'SUCCEEDED', epoch } });
  const looksAbsent = target.effects === 0 || (is === 'P' && !guards.listingIsFresh);
  if (is === 'K') retry();
  else if (is === 'C') {
    if (looksAbsent) retry();
  } else if (is === 'P') {
    const held = workers.some((other) => other.step === 'checked' && other.epoch < epoch);
    if (target.gate < epoch && (!held || !guards.egressDrained))
      add(`${at} raises the gate to ${epoch}`, { target: { ...target, gate: epoch }, quiet: false });
    if (looksAbsent && target.gate >= epoch && (world.quiet || !guards.boundHasPassed)) retry();
  } else if (is === 'N' && !guards.personDecidesInN) retry();
}

function send(world: World, { class: is, guards }: Rules, at: number, add: Add): void {
  const { target, operation } = world;
  const own = world.workers[at];
  if (own === undefined) return;
  if (is === 'P' && own.step === 'started') {
    if (own.epoch < target.gate)
      add(`${at} is turned away`, { workers: withWorker(world, at, { step: 'idle', epoch: 0 }) });
    else add(`${at} is let through`, { workers: withWorker(world, at, { ...own, step: 'checked' }) });
    return;
  }
  if (world.sends >= MOST_SENDS) return;
  add(`${at} sends ${own.epoch}`, {
    // A condition that is read anew for each attempt holds whatever an earlier attempt did.
    requests: [
      ...world.requests,
      { from: at, epoch: own.epoch, condition: guards.conditionFixedAtIntent ? 0 : target.version },
    ],
    sends: world.sends + 1,
    quiet: false,
    workers: withWorker(world, at, { ...own, step: 'waiting' }),
    ...(guards.startIsDurableFirst ? {} : { operation: { ...operation, epoch: own.epoch } }),
  });
}

function wait(world: World, rules: Rules, at: number, add: Add): void {
  const { operation } = world;
  const own = world.workers[at];
  if (own === undefined) return;
  const idle = withWorker(world, at, { step: 'idle', epoch: 0 });
  const running = operation.state === 'STARTED' && operation.epoch === own.epoch;
  const silence = rules.guards.silenceIsUncertain ? 'UNCERTAIN' : 'FAILED';
  add(`${at} hears nothing in time`, {
    workers: idle,
    ...(running ? { operation: { ...operation, state: silence } as const } : {}),
  });
  for (const [index, reply] of world.replies.entries()) {
    if (reply.to !== at || reply.epoch !== own.epoch) continue;
    const replies = world.replies.filter((_, other) => other !== index);
    add(`${at} hears: ${reply.said}`, { replies, workers: idle, ...hear(world, rules, own.epoch, reply.said) });
  }
}

/** What an answer makes of the operation: `settle` of the decider, guard by guard. */
function hear(world: World, { guards }: Rules, epoch: number, said: World['replies'][number]['said']): Partial<World> {
  const { operation, broken } = world;
  const running = operation.state === 'STARTED' && operation.epoch === epoch;
  const to = (state: EffectState): Partial<World> =>
    TERMINAL.includes(operation.state)
      ? { operation: { ...operation, state }, broken: { ...broken, terminalMoved: true } }
      : { operation: { ...operation, state } };
  if (TERMINAL.includes(operation.state) && guards.terminalIsFinal) return {};
  if (said === 'applied') return operation.state === 'SUCCEEDED' ? {} : to('SUCCEEDED');
  if (said === 'garbled') {
    if (!running) return {};
    return guards.onlyWholeAnswersCount ? to('UNCERTAIN') : to('SUCCEEDED');
  }
  if (!running && guards.lateFailureMovesNothing) return {};
  if (operation.attempts > 1 && guards.refusalEndsFirstAttemptOnly) return running ? to('UNCERTAIN') : {};
  const stale = !running && !TERMINAL.includes(operation.state);
  return { ...to('FAILED'), ...(stale ? { broken: { ...broken, staleMove: true } } : {}) };
}

function network(world: World, rules: Rules, add: Add): void {
  const { target } = world;
  for (const [index, request] of world.requests.entries()) {
    const requests = world.requests.filter((_, other) => other !== index);
    const { from: to, epoch } = request;
    const reply = (said: World['replies'][number]['said']) => [...world.replies, { to, epoch, said }];
    add(`request ${epoch} is lost`, { requests });
    // Something between here and the target answers in its place, and passes nothing on.
    add(`request ${epoch} is answered on the way`, { requests, replies: reply('garbled') });
    if (target.refuses) {
      add(`request ${epoch} is refused`, { requests, replies: reply('refused') });
      continue;
    }
    const [said, change] = apply(world, rules, request.condition);
    add(`request ${epoch} lands`, { requests, target: change, replies: reply(said) });
  }
  for (const index of world.replies.keys())
    add('a reply is lost', { replies: world.replies.filter((_, other) => other !== index) });
}

function apply(
  { target }: World,
  { class: is }: Rules,
  condition: number,
): readonly ['applied' | 'refused', World['target']] {
  const once = { ...target, effects: target.effects + 1 };
  switch (is) {
    case 'K':
      return ['applied', target.knowsKey ? target : { ...once, knowsKey: true }];
    case 'C':
      return target.version === condition ? ['applied', { ...once, version: condition + 1 }] : ['refused', target];
    default:
      return ['applied', once];
  }
}
