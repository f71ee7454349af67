import { describeKills } from './survive-kills.ts';

describeKills({ works: 200, rounds: 20 });
