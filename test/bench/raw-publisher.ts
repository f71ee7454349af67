import { connect, createInbox, headers } from '@nats-io/transport-node';

export interface RawMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly id: string;
}

/** Messages without an acknowledgement at one time. */
const WINDOW = 1_024;

/** A stream of the settings of EVIDENCE that takes everything below a root of its own. */
export async function declareRawStream(url: string, root: string): Promise<void> {
  const connection = await connect({ servers: url });
  const ask = async (subject: string, body: string) => {
    const answer = (await connection.request(subject, body)).json<{ config?: object; error?: object }>();
    if (answer.error !== undefined) throw new Error(`${subject}: ${JSON.stringify(answer.error)}`);
    return answer;
  };
  const { config } = await ask('$JS.API.STREAM.INFO.EVIDENCE', '');
  const raw = { ...config, name: 'RAW', subjects: [`${root}.>`] };
  await ask('$JS.API.STREAM.CREATE.RAW', JSON.stringify(raw));
  await connection.close();
}

/** Messages a second that one process gets acknowledged, all acknowledgements through one inbox. */
export async function publishRaw(url: string, messages: readonly RawMessage[]): Promise<number> {
  const connection = await connect({ servers: url });
  const inbox = createInbox();
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    let sent = 0;
    let acknowledged = 0;
    const fill = () => {
      for (; sent < messages.length && sent - acknowledged < WINDOW; sent += 1) {
        const { subject, payload, id } = messages[sent] as RawMessage;
        const all = headers();
        all.set('Nats-Msg-Id', id);
        connection.publish(subject, payload, { reply: `${inbox}.${sent}`, headers: all });
      }
    };
    connection.subscribe(`${inbox}.*`, {
      callback: (error, reply) => {
        if (error !== null) return reject(error);
        const answer = reply.json<{ seq?: number }>();
        if (answer.seq === undefined) return reject(new Error(reply.string()));
        acknowledged += 1;
        if (acknowledged === messages.length) resolve();
        else fill();
        return undefined;
      },
    });
    fill();
  });
  const rate = messages.length / ((performance.now() - started) / 1_000);
  await connection.close();
  return rate;
}
