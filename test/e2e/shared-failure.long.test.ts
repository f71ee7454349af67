import { describeSharedFailure } from './shared-failure.ts';

describeSharedFailure({ fleet: 200, failingWorks: 40, firstThrough: 10, kills: 20 });
