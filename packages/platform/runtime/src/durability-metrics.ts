import type { Durability } from '@headway/eventlog';
import type { Metrics } from './metrics.ts';

/**
 * What an acknowledgement of the log means, as the server itself says when it is asked. No labels: a set of labels that
 * was true once would be shown for ever beside the one that is true now. What else the server said is in readiness.
 */
export function measureDurability(metrics: Metrics, log: { durability(): Promise<Durability> }): void {
  metrics.gauge(
    'headway_log_durable',
    '1 where what the log acknowledges survives the loss of power; 0 where it does not, or cannot be asked',
    async () => Number((await log.durability()).meaning === 'durable'),
  );
  metrics.gauge(
    'headway_log_replicas',
    'Servers that hold what the log acknowledges',
    async () => (await log.durability()).replicas,
  );
}
