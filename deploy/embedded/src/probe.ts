import { connect } from 'node:net';

const ANSWER_MS = 2_000;

/** Connects, sends `greeting` and shows `judge` what came back so far until it decides; undefined = no decision in time. */
function talk<Verdict>(
  port: number,
  greeting: Buffer,
  judge: (answer: Buffer) => Verdict | undefined,
): Promise<Verdict | undefined> {
  return new Promise((resolve) => {
    let answer = Buffer.alloc(0);
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (verdict: Verdict | undefined): void => {
      socket.destroy();
      resolve(verdict);
    };
    socket.setTimeout(ANSWER_MS, () => end(undefined));
    socket.on('connect', () => socket.write(greeting));
    socket.on('data', (chunk) => {
      answer = Buffer.concat([answer, chunk]);
      const verdict = judge(answer);
      if (verdict !== undefined) end(verdict);
    });
    socket.on('error', () => end(undefined));
    socket.on('close', () => end(undefined));
  });
}

export interface NatsInfo {
  readonly version: string;
  readonly serverName: string;
  readonly jetstream: boolean;
}

/** What a NATS server says of itself once it answers a ping; undefined while it does not. */
export function askNats(port: number): Promise<NatsInfo | undefined> {
  return talk(port, Buffer.from('CONNECT {"verbose":false,"pedantic":false}\r\nPING\r\n'), (answer) => {
    const text = answer.toString('utf8');
    const info = /^INFO (.*)\r\n/.exec(text)?.[1];
    if (info === undefined || !text.includes('PONG\r\n')) return undefined;
    const facts = JSON.parse(info) as { version: string; server_name: string; jetstream?: boolean };
    return { version: facts.version, serverName: facts.server_name, jetstream: facts.jetstream === true };
  });
}

const PROTOCOL_3 = 196_608;
const AUTHENTICATION = 'R'.charCodeAt(0);
const ERROR_RESPONSE = 'E'.charCodeAt(0);

/**
 * Whether a Postgres takes new sessions: true once it asks for a password, or refuses one for any reason but that it is still starting;
 * undefined while it does not.
 */
export function postgresTakesSessions(port: number, user: string): Promise<true | undefined> {
  const words = Buffer.from(`user\0${user}\0database\0postgres\0\0`);
  const greeting = Buffer.alloc(8 + words.length);
  greeting.writeInt32BE(greeting.length, 0);
  greeting.writeInt32BE(PROTOCOL_3, 4);
  words.copy(greeting, 8);
  return talk<boolean>(port, greeting, (answer) => {
    if (answer[0] === AUTHENTICATION) return true;
    // Error class 57P03: the server is starting up, recovering or shutting down.
    if (answer[0] === ERROR_RESPONSE && answer.length > 5) return !answer.includes('C57P03');
    return undefined;
  }).then((takes) => (takes === true ? true : undefined));
}
