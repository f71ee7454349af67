import { describeServerKills } from './survive-servers.ts';

describeServerKills({ works: 1_000, rounds: 100 });
