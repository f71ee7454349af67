#!/usr/bin/env node
/** Makes or updates the streams on the server of `HEADWAY_NATS_URL`, with `HEADWAY_NATS_REPLICAS` replicas (default 1). */
import { provisionStreams } from './jetstream/provisioning.ts';

const { HEADWAY_NATS_URL: servers, HEADWAY_NATS_REPLICAS: replicas = '1' } = process.env;
if (servers === undefined || servers === '') {
  console.error('HEADWAY_NATS_URL is not set: set it to the address of the NATS server, like nats://127.0.0.1:4222');
  process.exit(2);
}
if (!/^[135]$/.test(replicas)) {
  console.error(`HEADWAY_NATS_REPLICAS is ${JSON.stringify(replicas)}: set it to 1, 3 or 5`);
  process.exit(2);
}
try {
  const done = await provisionStreams({ servers, name: 'headway provision', replicas: Number(replicas) });
  for (const { stream, change, refused } of done) console.log(`${stream} ${refused ?? change}`);
  if (done.some(({ change }) => change === 'refused')) process.exitCode = 3;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
