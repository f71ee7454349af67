// As start.mjs runs the supervisor, but the one with fake programs, and with nothing to bring first.
import { fileURLToPath } from 'node:url';
import { runForeground } from '../../bootstrap/foreground.mjs';

process.exit(
  await runForeground(process.execPath, [fileURLToPath(new URL('fake-main.ts', import.meta.url))], process.env),
);
