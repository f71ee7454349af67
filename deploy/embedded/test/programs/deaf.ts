// A service that hears nothing: neither a signal nor the end of its parent.
import { createServer } from 'node:http';

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
process.on('disconnect', () => {});
createServer((_, response) => response.end('{}')).listen(Number(process.env.HEADWAY_PORT), process.env.HEADWAY_HOST);
