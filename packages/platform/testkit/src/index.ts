export * from './fake-clock.ts';
export * from './infrastructure/eventually.ts';
export * from './infrastructure/free-port.ts';
export { type NatsOptions, startNats, type TestNats } from './infrastructure/nats-server.ts';
export { type PostgresOptions, startPostgres, type TestPostgres } from './infrastructure/postgres-server.ts';
