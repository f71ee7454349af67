export { type AppendFault, type FaultPlan, withFaults } from './faults.ts';
export {
  ARCHIVED_STREAMS,
  type Bus,
  type BusOptions,
  connectBus,
  type ExactAppends,
  type ExactMessage,
} from './jetstream/bus.ts';
export type { NatsAccess, NatsCredentials } from './jetstream/connection.ts';
export type { Durability } from './jetstream/durability.ts';
export type { LogLoss } from './jetstream/guarded-streams.ts';
export { connectJetStreamLog, type JetStreamLog, type JetStreamLogOptions } from './jetstream/jetstream-log.ts';
export { clusterIsSafe, type Provisioned, type ProvisionOptions, provisionStreams } from './jetstream/provisioning.ts';
export { type OneMessage, type PublishedOnce, publishOnce } from './jetstream/publish-once.ts';
export { DEFAULT_PUBLISH_WINDOW } from './jetstream/publisher.ts';
export * from './log.ts';
export { createMemoryLog, createMemoryStreams, type MemoryLogOptions, type MemoryStreams } from './memory-log.ts';
export * from './reacting.ts';
export { DECLARED_CONSUMERS, DECLARED_STREAMS, type StreamDeclaration } from './streams.ts';
