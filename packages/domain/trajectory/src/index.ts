export * from './assess.ts';
export * from './classification/classification.ts';
export * from './classification/identity-memory.ts';
export * from './classification/lines.ts';
export * from './efficiency/index.ts';
export * from './evolve.ts';
export { initialState } from './initial-state.ts';
export * from './judge.ts';
export { laneKey } from './names.ts';
export { PolicyBook } from './policy-book.ts';
export { firingRules } from './rules/index.ts';
export { awaitsTick, countsTicks } from './rules/waiting.ts';
export { acknowledgementsOf, signal } from './signaller/signal.ts';
export {
  ENDED_GROUPS,
  type Group,
  initialSignals,
  recipientsOf,
  type SignalsState,
  type WorkEntry,
} from './signaller/state.ts';
export { remembered, STATE_BYTES, STATE_VERSION, type WorkState } from './state.ts';
