import { describeKills } from './survive-kills.ts';

describeKills({ works: 1_000, rounds: 50 });
