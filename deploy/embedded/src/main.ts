import { ROUTING_FILE, readRoutes } from '@headway/gateway';
import { runForeground } from './foreground.ts';
import { JOBS, SERVICES } from './programs.ts';
import { realTerminal } from './terminal.ts';

const onlyInfrastructure = process.argv.includes('--only-infrastructure');
const routes = readRoutes(ROUTING_FILE);

await runForeground(
  { jobs: onlyInfrastructure ? [] : JOBS, services: onlyInfrastructure ? [] : SERVICES, routes },
  realTerminal,
);
