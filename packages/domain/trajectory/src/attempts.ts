import type { EvidenceOf } from '@headway/contracts';
import { isConfirmed, observeWork } from './done.ts';
import { outcomeOf } from './failing-set.ts';
import { type Failures, failuresOf, signatureOfAttempt } from './failures.ts';
import { isDue, settleFileReturns } from './file-states.ts';
import { fingerprint } from './fingerprint.ts';
import { afterFailure, afterPass, newGate } from './gate-runs.ts';
import { isIn, touched } from './memory.ts';
import { shownName } from './names.ts';
import { type DiffId, type Draft, type Gate, NONE, remembered } from './state.ts';
import { substantive } from './substantive.ts';

type Attempt = EvidenceOf<'headway.gate.attempted'>['data'];

/** An attempt of a gate. An errored one says nothing about the work: only that it happened is kept. */
export function foldAttempt(draft: Draft, attempt: Attempt): void {
  draft.attempts += 1;
  const outcome = outcomeOf(attempt);
  const index = gateIndex(draft, attempt.gate);
  if (outcome === 'errored') {
    draft.errored = Math.min(draft.errored + 1, remembered.count);
    replaceGate(draft, index, { ...gateAt(draft, index), seen: draft.attempts });
    return substantive(draft, null);
  }
  draft.errored = 0;
  draft.doubt = false;
  draft.judged = true;
  const [verdicts, commits, allVerdicts, allCommits] = draft.spent;
  draft.spent = [verdicts + 1, commits, allVerdicts + 1, allCommits];
  const at = observed(draft, attempt);
  if (outcome === 'passed') foldPass(draft, index, attempt, at);
  else foldFailure(draft, index, attempt, at);
}

function observed(draft: Draft, attempt: Attempt): DiffId {
  if (!attempt.diff) return NONE;
  observeWork(draft, attempt.diff);
  return draft.diffs.at;
}

/** The place of the gate; the one seen least recently makes room for a new one. */
function gateIndex(draft: Draft, name: string): number {
  const id = fingerprint(name);
  const index = draft.gates.findIndex((gate) => gate.id === id);
  if (index !== -1) return index;
  let gates = draft.gates;
  if (gates.length >= remembered.gates) {
    const oldest = Math.min(...gates.map((gate) => gate.seen));
    gates = gates.filter((gate) => gate.seen !== oldest);
  }
  draft.gates = [...gates, newGate(id, shownName(name, remembered.gateName))];
  return draft.gates.length - 1;
}

function replaceGate(draft: Draft, index: number, gate: Gate): void {
  const gates = draft.gates.slice();
  gates[index] = gate;
  draft.gates = gates;
}

function foldPass(draft: Draft, index: number, attempt: Attempt, at: DiffId): void {
  const gate = gateAt(draft, index);
  if (gate.pass[1] === 0) draft.progress += 1;
  replaceGate(draft, index, afterPass(gate, draft.attempts, at, draft.diffs));
  // What was confirmed once stays so, whatever state a gate passes on later.
  if (attempt.stage === 'done' && at !== NONE && !isConfirmed(draft)) draft.doneGateAt = at;
  substantive(draft, attempt.stage === 'prep' ? 'passed-prep' : null);
}

function foldFailure(draft: Draft, index: number, attempt: Attempt, at: DiffId): void {
  const gate = gateAt(draft, index);
  const failures = failuresOf(attempt);
  const signature = signatureOfAttempt(attempt, failures);
  const { gate: after, progressed } = afterFailure(gate, {
    seen: draft.attempts,
    signature,
    set: signature === null || signature === gate.sig ? null : (failures?.set ?? null),
    stage: attempt.stage,
    at,
    unmoved: draft.diffs.at,
    progress: draft.progress,
    moves: draft.diffs.moves,
  });
  if (progressed) draft.progress += 1;
  replaceGate(draft, index, after);
  // A signature is of one gate: its hash is made from the gate and the failing set.
  const print = signature === null ? null : fingerprint(signature);
  if (at !== NONE && anyReturnDue(draft)) settleReturns(draft, print !== null && isIn(draft.signatures, print));
  if (print !== null) draft.signatures = touched(draft.signatures, print, remembered.signatures);
  if (signature === null || signature !== gate.sig || !isShown(draft, gate)) showFailures(draft, gate, failures);
  substantive(draft, null);
}

function gateAt(draft: Draft, index: number): Gate {
  const gate = draft.gates[index];
  if (gate === undefined) throw new Error('the gate of an attempt is always among the gates');
  return gate;
}

const anyReturnDue = ({ diffs, files }: Draft): boolean => diffs.due || files.some(isDue);

/** A return counts at the first failed attempt there, if that failure was seen before. */
function settleReturns(draft: Draft, counts: boolean): void {
  const { diffs } = draft;
  if (diffs.due) {
    const isNew = counts && !diffs.returned.includes(diffs.at) && diffs.returned.length < remembered.returns;
    draft.diffs = { ...diffs, due: false, returned: isNew ? [...diffs.returned, diffs.at] : diffs.returned };
  }
  draft.files = settleFileReturns(draft.files, counts);
}

const isShown = ({ shown }: Draft, { id }: Gate): boolean => shown.some(([gate]) => gate === id);

function showFailures(draft: Draft, { id }: Gate, failures: Failures | null): void {
  const others = draft.shown.filter(([gate]) => gate !== id);
  draft.shown = [...others.slice(-(remembered.shownGates - 1)), [id, ...(failures?.shown ?? [])]];
}
