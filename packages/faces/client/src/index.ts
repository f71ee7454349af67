export { type Answer, type Failure, failureText } from './answer.ts';
export { type Client, type ClientOptions, createClient, type Readiness, type ReadOptions } from './client.ts';
export type { EffectAsked, EffectPage, EffectResolution, EffectsClient } from './effects.ts';
export { clientLimits } from './limits.ts';
export type { StreamItem, StreamOptions } from './stream.ts';
