import { writeFileSync } from 'node:fs';
import { USERS_FILE, usersFile } from './users-file.ts';

writeFileSync(USERS_FILE, usersFile());
