import { describePause } from './survive-pause.ts';

describePause({ works: 500, rounds: 30, pauseSeconds: [60, 0] });
