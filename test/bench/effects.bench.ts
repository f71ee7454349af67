/** Guarded effects against two bare statements on the same Postgres. It measures the inside of a service, so it lives there. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../../services/executor/test/measure-effects.ts', import.meta.url));
const ran = spawnSync(process.execPath, [file, ...process.argv.slice(2)], { stdio: ['ignore', 'inherit', 'inherit'] });
process.exitCode = ran.status ?? 1;
