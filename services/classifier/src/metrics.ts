import type { Metrics } from '@headway/runtime';
import type { Replica } from './replica.ts';

/** What operators watch of a replica of the classifier. */
export function measureClassifier(metrics: Metrics, replica: Replica): void {
  metrics.counter('headway_fenced_writes', 'Writes that were refused because another process had written', () =>
    replica.fenced(),
  );
  metrics.gauge(
    'headway_owned_partitions',
    'Partitions that this replica assesses',
    () => replica.duties().partitions.size,
  );
  metrics.gauge('headway_duties', '1 for each duty that this replica does beside its partitions', () => {
    const { signaller, feed } = replica.duties();
    return [
      { value: Number(signaller), labels: { duty: 'signaller' } },
      { value: Number(feed), labels: { duty: 'feed' } },
    ];
  });
  metrics.gauge('headway_reader_lag_messages', 'Messages of the stream that a reader has not handled yet', () =>
    replica.lags(),
  );
  metrics.gauge('headway_held_works', 'Works that stand still here at a message that cannot be folded', () =>
    replica.held(),
  );
}
