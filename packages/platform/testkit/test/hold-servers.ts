/** Starts both servers, tells their pids, and lives until it is killed. */
import { startNats, startPostgres } from '@headway/testkit';

const [nats, postgres] = await Promise.all([startNats({ own: true }), startPostgres({ own: true })]);
console.log(JSON.stringify([nats.pid, postgres.pid]));
setInterval(() => {}, 60_000);
