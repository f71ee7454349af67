export { efficiencyOf } from './efficiency.ts';
export { countEvidence } from './ledger.ts';
export { liveAtOnce, type Span } from './live-at-once.ts';
