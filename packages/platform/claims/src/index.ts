export * from './claims.ts';
export { createMemoryClaims } from './memory-claims.ts';
export { connectPostgresClaims, migrateClaims } from './postgres-claims.ts';
