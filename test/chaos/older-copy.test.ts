import { describeOlderCopy } from './survive-older-copy.ts';

describeOlderCopy({ works: 100, rounds: 40 });
