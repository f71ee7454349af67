import { describeTrials, PLACES } from './failpoint-trials.ts';

// Each place once, with the kinds and the signals in turn. All of them together are in the long form.
describeTrials(
  PLACES.map((place, at) => ({
    place,
    kind: at % 2 === 0 ? 'http' : 'postgres.row',
    signal: at % 4 < 2 ? 'kill' : 'stop',
  })),
);
