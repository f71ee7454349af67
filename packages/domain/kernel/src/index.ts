export * from './decider.ts';
export * from './hashing.ts';
export * from './ports.ts';
