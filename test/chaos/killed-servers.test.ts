import { describeServerKills } from './survive-servers.ts';

describeServerKills({ works: 200, rounds: 20 });
