/** Starts both servers, tells their addresses, and lives until it is killed. */
import { startNats, startPostgres } from '@headway/testkit';

const [nats, postgres] = await Promise.all([startNats({ own: true }), startPostgres({ own: true })]);
console.log(JSON.stringify([nats.url, postgres.url]));
setInterval(() => {}, 60_000);
