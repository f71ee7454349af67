export { type AttemptReading, readAttempt } from './attempt.ts';
export { outputLimits } from './limits.ts';
export { createOutputReader, type OutputReader, type OutputReading, readOutput } from './output.ts';
export { SIGNATURE_VERSION, signatureOf } from './signature.ts';
