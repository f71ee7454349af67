import { describeTrials, KINDS, PLACES } from './failpoint-trials.ts';

describeTrials(
  KINDS.flatMap((kind) =>
    (['kill', 'stop'] as const).flatMap((signal) => PLACES.map((place) => ({ kind, signal, place }))),
  ),
);
