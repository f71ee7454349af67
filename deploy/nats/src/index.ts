export { authorizationBlock, BUS_USERS, type Password, passwordVariable } from './authorization.ts';
export { BUS_PERMISSIONS, inboxOf, outsidePermissions, type Permissions, permissionsOf } from './permissions.ts';
export { ADMIN_USER, type BusUser, FAMILIES, OUTSIDE_USER, SERVICE_USERS } from './users.ts';
export { USERS_FILE, usersFile } from './users-file.ts';
