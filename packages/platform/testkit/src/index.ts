export * from './fake-clock.ts';
export * from './infrastructure/eventually.ts';
export { type ForeignStreams, openForeignStreams } from './infrastructure/foreign-streams.ts';
export { freePort } from './infrastructure/free-port.ts';
export { startNatsCluster, type TestNatsCluster } from './infrastructure/nats-cluster.ts';
export { startNats } from './infrastructure/nats-server.ts';
export { startPostgres } from './infrastructure/postgres-server.ts';
export type { NatsOptions, TestNats } from './infrastructure/test-nats.ts';
export type { PostgresOptions, TestPostgres } from './infrastructure/test-postgres.ts';
