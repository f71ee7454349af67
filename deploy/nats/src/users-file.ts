import { join } from 'node:path';
import { authorizationBlock, passwordVariable } from './authorization.ts';

/** The file that a nats-server's configuration includes for its users. */
export const USERS_FILE = join(import.meta.dirname, '..', 'users.conf');

/** Its content: every password is a variable of the server's environment, so that the file holds no secret. */
export const usersFile = (): string =>
  `# Made from deploy/nats/src/users.ts by \`node deploy/nats/src/write-users.ts\`; do not edit.\n` +
  `# A password has to begin with a letter: the server reads one that looks like a number as a number.\n` +
  authorizationBlock({ passwordOf: (user) => ({ variable: passwordVariable(user) }), open: false });
