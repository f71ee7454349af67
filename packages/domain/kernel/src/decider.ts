/**
 * The one pattern every aggregate of Headway follows.
 *
 * `decide` looks at the state and a command and answers with the events that happened, or with a value that says why
 * none did. `evolve` applies one event. Both are pure and total: no clock, no randomness, no I/O. Folding events one by
 * one gives the same state as folding them all at once.
 */
export interface Decider<State, Command, Event, Refusal = never> {
  readonly decide: (state: State, command: Command) => Result<readonly Event[], Refusal>;
  readonly evolve: (state: State, event: Event) => State;
  readonly initialState: () => State;
}

/** An expected outcome: either a value or the reason there is none. Broken invariants throw instead. */
export type Result<Value, Failure> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

export const ok = <Value>(value: Value): Result<Value, never> => ({ ok: true, value });
export const refused = <Failure>(failure: Failure): Result<never, Failure> => ({ ok: false, failure });

/** Folds events over a state, oldest first. */
export function fold<State, Event>(
  evolve: (state: State, event: Event) => State,
  state: State,
  events: Iterable<Event>,
): State {
  let current = state;
  for (const event of events) current = evolve(current, event);
  return current;
}

/** Marks the end of a switch over a closed union: the compiler fails where a case is missing. */
export function unreachable(value: never): never {
  throw new TypeError(`unreachable: ${JSON.stringify(value)}`);
}
