import { describeLeaderKills } from './lead-a-cluster.ts';

describeLeaderKills({ events: 200_000, packed: 5, kills: 3 });
