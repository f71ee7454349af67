import { UNCHANGED_DIFF } from '@headway/contracts';
import { fingerprint } from './fingerprint.ts';
import { type Draft, NONE, STATE_VERSION, UNCHANGED, type WorkState } from './state.ts';

/** The fingerprint of the unchanged tree, the first diff state of every incarnation. */
export const unchangedPrint = fingerprint(UNCHANGED_DIFF);

const fresh: WorkState = {
  v: STATE_VERSION,
  incarnation: 0,
  seen: false,
  worker: null,
  orchestrator: null,
  lane: null,
  sizing: [null, null],
  blocked: false,
  released: false,
  done: 'no',
  doneAt: NONE,
  doneGateAt: NONE,
  doubt: false,
  contradicted: false,
  diffs: {
    seen: unchangedPrint,
    ids: [UNCHANGED],
    unchanged: '',
    at: UNCHANGED,
    next: UNCHANGED + 1,
    observed: false,
    moves: 0,
    returned: [],
    due: false,
  },
  lines: null,
  delta: null,
  files: [],
  filesAt: UNCHANGED,
  gates: [],
  signatures: '',
  shown: [],
  checkpoints: '',
  delegations: { open: '', more: 0, sums: [0, 0] },
  attempts: 0,
  errored: 0,
  judged: false,
  spent: [0, 0, 0, 0],
  progress: 0,
  pause: null,
  ticks: 0,
  rest: UNCHANGED,
  held: null,
  recorded: null,
};

/** A work of which nothing is known. */
export const initialState = (): WorkState => fresh;

/** The start of a later incarnation: nothing of the older one stays but a block, which only `unblocked` ends. */
export const nextIncarnation = (state: WorkState, incarnation: number): Draft => ({
  ...fresh,
  incarnation,
  lane: state.lane ?? null,
  blocked: state.blocked,
  recorded: state.recorded,
});
