/**
 * The floor that appends are measured against: one process that publishes as fast as the log acknowledges, with one inbox
 * for the answers, and does nothing else. Run by Node: `node publish-raw.ts URL FILE SUBJECTS`, where FILE holds one
 * payload a line. Prints messages per second.
 */
import { readFileSync } from 'node:fs';
import { subjects } from '@headway/contracts';
import { connect, createInbox, headers } from '@nats-io/transport-node';

/** Publishes that wait for their answer at once. */
const WINDOW = 1_024;

export async function publishRaw(url: string, payloads: readonly Uint8Array[], works: number): Promise<number> {
  const connection = await connect({ servers: url });
  const inbox = createInbox();
  const run = createInbox().slice(-10);
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    let sent = 0;
    let acknowledged = 0;
    const fill = () => {
      for (; sent < payloads.length && sent - acknowledged < WINDOW; sent += 1) {
        const all = headers();
        all.set('Nats-Msg-Id', `${run}-${sent}`);
        connection.publish(subjects.evidence('raw', `raw-${sent % works}`), payloads[sent] as Uint8Array, {
          reply: `${inbox}.${sent}`,
          headers: all,
        });
      }
    };
    connection.subscribe(`${inbox}.*`, {
      callback: (error, reply) => {
        if (error !== null) return reject(error);
        const answer = reply.json<{ seq?: number }>();
        if (answer.seq === undefined) return reject(new Error(reply.string()));
        acknowledged += 1;
        if (acknowledged === payloads.length) resolve();
        else fill();
        return undefined;
      },
    });
    fill();
  });
  const rate = Math.round(payloads.length / ((performance.now() - started) / 1_000));
  await connection.close();
  return rate;
}

if (import.meta.main) {
  const [url = '', file = '', works = ''] = process.argv.slice(2);
  const payloads = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => Buffer.from(line));
  console.log(await publishRaw(url, payloads, Number(works)));
}
