import { describePause } from './survive-pause.ts';

describePause({ works: 100, rounds: 15, pauseSeconds: [0] });
