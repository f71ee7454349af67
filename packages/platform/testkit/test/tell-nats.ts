/** Starts a NATS server, tells where it runs, and ends it. */
import { startNats } from '@headway/testkit';

const nats = await startNats();
console.log(JSON.stringify({ local: nats.dataDir !== null, version: nats.version }));
await nats.stop();
