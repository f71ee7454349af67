import { STREAMS } from '@headway/contracts';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/** What an acknowledgement of the log means. */
export interface Durability {
  /** What the evidence survives once it is acknowledged: also the loss of power, or only the death of processes. */
  readonly meaning: 'durable' | 'published' | 'unknown';
  readonly replicas: number;
  /** `always`, or how often the server syncs, as it says; `null` = it does not tell. */
  readonly sync: string | null;
  readonly serverVersion: string;
  /** One sentence for people. */
  readonly text: string;
}

/** When a server before 2.10 writes to the disk; it has no setting for it. */
const FIXED_INTERVAL = '2m';
const MONITOR_TIMEOUT_MS = 2_000;

/** Asks the server what it really does: its streams for their replicas, its monitoring for when it syncs. */
export async function askDurability(
  connection: NatsConnection,
  manager: JetStreamManager,
  monitorUrl: string | undefined,
): Promise<Durability> {
  const { config } = await manager.streams.info(STREAMS.evidence);
  const serverVersion = connection.info?.version ?? 'unknown';
  const sync = /^2\.[0-9]\./.test(serverVersion) ? FIXED_INTERVAL : await askSync(monitorUrl);
  return { replicas: config.num_replicas, sync, serverVersion, ...meaningOf(config.num_replicas, sync) };
}

export function meaningOf(replicas: number, sync: string | null): Pick<Durability, 'meaning' | 'text'> {
  const held = replicas === 1 ? 'one server' : `${replicas} servers`;
  if (sync === null)
    return {
      meaning: 'unknown',
      text: `published to ${held}; when the server writes to its disk cannot be asked, set HEADWAY_NATS_MONITOR_URL`,
    };
  if (sync !== 'always') return { meaning: 'published', text: `published to ${held}, not durable: interval ${sync}` };
  return { meaning: 'durable', text: `written to the disk of ${held} before it is acknowledged` };
}

async function askSync(monitorUrl: string | undefined): Promise<string | null> {
  if (monitorUrl === undefined) return null;
  try {
    const answer = await fetch(new URL('/varz', monitorUrl), { signal: AbortSignal.timeout(MONITOR_TIMEOUT_MS) });
    const { jetstream } = (await answer.json()) as {
      jetstream?: { config?: { sync_always?: boolean; sync_interval?: number } };
    };
    const { sync_always: always, sync_interval: interval } = jetstream?.config ?? {};
    if (always === true) return 'always';
    return interval === undefined ? null : `${interval / 1e9}s`;
  } catch {
    return null;
  }
}
