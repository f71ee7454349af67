import { defaultPolicy } from '@headway/contracts';
import { describe, expect, test } from 'vitest';
import { assess, evolve, type Fact, initialState, remembered, STATE_BYTES, type WorkState } from '../src/index.ts';
import { acknowledged, checkpoint, claimed, edited, opened } from './facts.ts';

/** More than any memory of the state has places. */
const ROUNDS = 66;
const bytesOf = (state: WorkState): number => Buffer.byteLength(JSON.stringify(widened(state)));

/** A text of the given length in which every character takes as many bytes of JSON as can be. */
const wide = (index: number, length: number): string => `${index}`.padEnd(length, '\u{1F4A5}"\\\u0001€');

function attempt(gate: number, round: number, diff: object | null, keys: number): Fact {
  // Of a key the state holds a hash: a few of full length show that its length is nothing.
  const failures = Array.from({ length: keys }, (_, key) => ({
    key: wide(key * 1_000 + (round % 7), key === 0 ? 2_000 : 40),
  }));
  return {
    specversion: '1.0',
    source: 's',
    id: `${gate}.${round}`,
    subject: 'W-1',
    type: 'headway.gate.attempted',
    data: { gate: wide(gate, 1_024), outcome: 'failed', stage: 'prep', failures, diff },
  } as Fact;
}

/** The value with every number that grows with the history as wide as after a billion events. */
function widened(value: unknown): unknown {
  if (typeof value === 'number') return value === -1 || value > 9_999 ? 999_999_999 : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(widened);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, widened(member)]));
}

/** A full state with every list that a history may fill filled, all at once. */
function widest(state: WorkState, held: WorkState['held']): WorkState {
  const id = 999_999_999;
  const run = [remembered.count, id] as const;
  const on = Array.from({ length: remembered.circlingDiffs }, () => id);
  const runs = [run, run, [remembered.count, id, ...on]] as const;
  return {
    ...state,
    held,
    lines: [id, id],
    delta: [-id, -id],
    sizing: [id, id],
    diffs: { ...state.diffs, returned: Array.from({ length: remembered.returns }, () => id) },
    gates: state.gates.map((gate) => ({
      ...gate,
      newest: 'failed',
      set: [2_000, id * 10, 2_000, 1],
      runs,
      unobserved: runs,
    })),
    files: state.files.map(([path, , states]) => [path, path, states, 1] as const),
  };
}

describe('the state of a work', () => {
  test('stays below its limit with every memory full and every text as long as it may be', () => {
    let state = evolve(initialState(), {
      ...claimed({ gateAttempts: 123_456_789, commits: 123_456_789 }),
      incarnation: 123_456_789,
      data: {
        worker: wide(1, 1_024),
        orchestrator: wide(2, 1_024),
        sizing: { files: 5_000_000, toolCalls: 5_000_000 },
      },
    } as Fact);
    // As if hundreds of millions of events had gone before: numbers take their full width.
    const old = {
      ...state,
      attempts: 999_000_000,
      progress: 99_000_000,
      spent: [999_999_999, 999_999_999, 999_999_999, 999_999_999],
    };
    state = { ...old, diffs: { ...state.diffs, next: 999_000_000, moves: 999_000_000 } } as unknown as WorkState;
    let most = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const files = Array.from({ length: 30 }, (_, file) => ({
        path: wide(file, 1_024),
        hash: wide((round % 11) * 100 + file, 64),
      }));
      const diff = { hash: wide(round % 90, 1_024), files, added: 999_999_999, removed: round };
      for (let gate = 0; gate < 14; gate += 1) {
        state = evolve(
          state,
          attempt(gate, round, gate % 3 === 1 ? null : { ...diff, hash: wide(round * 14 + gate, 200) }, 40),
        );
        most = Math.max(most, bytesOf(state));
      }
      for (let gate = 0; gate < 14; gate += 1) state = evolve(state, attempt(gate, round, null, 40));
      state = evolve(state, opened(wide(round, 1_024)));
      state = evolve(state, checkpoint('worker', wide(round, 1_024)));
      state = evolve(state, edited(wide(round % 24, 1_024), `${round}`, `${round + 1}`));
      most = Math.max(most, bytesOf(state));
      assess(state, defaultPolicy);
    }
    const full = state;
    state = evolve(state, acknowledged(123_456_789));
    expect(state.held).not.toBeNull();
    expect(full.gates).toHaveLength(remembered.gates);
    expect(full.files).toHaveLength(remembered.files);
    expect(full.diffs.ids).toHaveLength(remembered.diffs);
    expect(full.delegations.more).toBeGreaterThan(0);
    most = Math.max(most, bytesOf(state), bytesOf(widest(full, state.held)));

    expect(most).toBeLessThanOrEqual(STATE_BYTES);
  });
});
