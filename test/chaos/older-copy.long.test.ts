import { describeOlderCopy } from './survive-older-copy.ts';

describeOlderCopy({ works: 1_000, rounds: 100 });
