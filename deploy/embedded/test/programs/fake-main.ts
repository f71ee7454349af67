// The supervisor with fake programs in place of the real services.
import { runForeground } from '../../src/foreground.ts';
import { realTerminal } from '../../src/terminal.ts';

const folder = 'deploy/embedded/test/programs';
const names = process.env.FAKE_SERVICES?.split(',') ?? ['ingest', 'projection'];

await runForeground(
  {
    jobs: [{ name: 'job', main: `${folder}/job.ts` }],
    services: names.map((name) => ({ name, main: `${folder}/${name}.ts` })),
    routes: [
      { methods: ['POST'], prefix: '/v1/events', service: 'ingest' },
      { methods: ['*'], prefix: '/', service: 'projection' },
    ],
  },
  realTerminal,
);
