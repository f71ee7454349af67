export * from './backoff.ts';
export * from './config.ts';
export * from './health.ts';
export * from './http.ts';
export * from './logger.ts';
export { PROBLEM_TYPE, sendProblem } from './problem-answer.ts';
export * from './read-loop.ts';
export * from './service.ts';
export * from './telemetry.ts';
