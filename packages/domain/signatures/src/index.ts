export { type AttemptReading, readAttempt } from './attempt.ts';
export { outputLimits } from './limits.ts';
export {
  createOutputReader,
  type OutputReader,
  type OutputReading,
  type ReadingOptions,
  type Reason,
  readOutput,
} from './output.ts';
export type { LineWatcher } from './reading/channel.ts';
export { readRules, type SignatureRules } from './rules.ts';
export { SIGNATURE_VERSION, signatureOf } from './signature.ts';
