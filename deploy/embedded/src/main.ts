import { join } from 'node:path';
import { runForeground } from './foreground.ts';
import { JOBS, SERVICES } from './programs.ts';
import { readRoutes } from './routes.ts';
import { realTerminal } from './terminal.ts';

const onlyInfrastructure = process.argv.includes('--only-infrastructure');
const routes = readRoutes(join(import.meta.dirname, '..', '..', 'gateway', 'routes.json'));

await runForeground(
  { jobs: onlyInfrastructure ? [] : JOBS, services: onlyInfrastructure ? [] : SERVICES, routes },
  realTerminal,
);
