export { grantRoles } from './grant-roles.ts';
export { DATABASE_ROLES, type DatabaseRole, passwordVariable } from './roles.ts';
