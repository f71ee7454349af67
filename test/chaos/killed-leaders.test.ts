import { describeLeaderKills } from './lead-a-cluster.ts';

describeLeaderKills({ events: 4_000, packed: 1, kills: 1 });
