export interface NatsOptions {
  /** Ask for a server of one's own, which may be killed, though the environment names a running one. */
  readonly own?: boolean;
  /** `always` (where the server knows it: 2.10 and newer) waits for the disk at each write. Default `always`. */
  readonly sync?: 'always' | 'interval';
  /** Text to add to the server's configuration, such as its users. Such a server is always one of one's own. */
  readonly configuration?: string;
}

export interface TestNats {
  readonly url: string;
  readonly version: string;
  /** Whether each acknowledged message was synced to disk first. */
  readonly sync: 'always' | 'interval' | 'unknown';
  /** Of the running server, as the machine it runs on counts; 0 where it is not ours. */
  readonly pid: number;
  /** `null` where the data are not in a folder of this machine: the server is not ours, or runs in a container. */
  readonly dataDir: string | null;
  /** Ends the server in good order, and removes its data. */
  stop(): Promise<void>;
  /** SIGKILL. Data stays, for {@link TestNats.restart}. Throws where the server is not ours. */
  kill9(): Promise<void>;
  /** Starts it again at the same address over the same data, after ending it in good order if it runs. */
  restart(): Promise<void>;
}

/** The largest message the server takes, in bytes. */
const MAX_PAYLOAD = 8 * 1024 * 1024;

export interface NatsSettings {
  readonly host: string;
  readonly port: number;
  readonly serverName: string;
  readonly storeDir: string;
  readonly sync: 'always' | 'interval';
  readonly more?: string | undefined;
}

/** The text of a configuration file for a nats-server that tests run against. */
export function natsConfig(settings: NatsSettings): string {
  return [
    `host: ${settings.host}`,
    `port: ${settings.port}`,
    `server_name: ${JSON.stringify(settings.serverName)}`,
    `max_payload: ${MAX_PAYLOAD}`,
    'jetstream {',
    `  store_dir: ${JSON.stringify(settings.storeDir)}`,
    ...(settings.sync === 'always' ? ['  sync_interval: always'] : []),
    '}',
    settings.more ?? '',
    '',
  ].join('\n');
}
