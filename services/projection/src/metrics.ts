import { letterReaders, trajectoryClasses } from '@headway/contracts';
import { ARCHIVE_READER, FLEET } from '@headway/readmodel';
import type { Metrics } from '@headway/runtime';
import type { Views } from './ports.ts';
import type { Projecting } from './projection.ts';

const signalKinds = ['stagnating', 'thrashing', 'awaiting-wake', 'shared-failure'] as const;

export interface Measuring {
  readonly views: Views;
  readonly projecting: Projecting;
  readonly endOf: (stream: string) => Promise<number | null>;
}

/** What operators watch of the projection, under fixed names and with few labels. */
export function measureProjection(metrics: Metrics, { views, projecting, endOf }: Measuring): void {
  const { followers, rebuilds } = projecting;
  metrics.gauge('headway_projection_lag_messages', 'Messages of a stream that are not projected yet', async () =>
    (
      await Promise.all(
        followers.map(async ({ stream }) => {
          const [{ sequence }, end] = [await views.place(ARCHIVE_READER, stream), await endOf(stream)];
          return end === null ? [] : [{ value: Math.max(0, end - sequence), labels: { stream } }];
        }),
      )
    ).flat(),
  );
  metrics.gauge('headway_projection_held_up', '1 while a stream is not projected for a reason', () =>
    followers.map(({ stream, follower }) => ({
      value: follower.state().heldUp === null ? 0 : 1,
      labels: { stream },
    })),
  );
  metrics.counter('headway_fenced_writes', 'Writes that were refused because another process had written', () =>
    followers.reduce((sum, { follower }) => sum + follower.state().fenced, 0),
  );
  metrics.gauge('headway_dead_letters', 'Dead letters that are open, by who could not handle them', async () => {
    const counted = await views.countLetters();
    return letterReaders.map((reader) => ({ value: counted.get(reader) ?? 0, labels: { reader } }));
  });
  metrics.gauge('headway_gap_missing_messages', 'Messages of the log that the archive does not hold', () =>
    projecting.gaps().map(({ stream, missing }) => ({ value: missing.length, labels: { stream } })),
  );
  metrics.gauge('headway_gap_scanned_sequence', 'Up to where the gap scanner has looked', () =>
    projecting.gaps().map(({ stream, scanned }) => ({ value: scanned, labels: { stream } })),
  );
  metrics.gauge('headway_projection_generation', 'Generation of the read models that answers', async () => [
    { value: (await rebuilds.generation(FLEET)) ?? 0, labels: { projection: FLEET } },
  ]);
  metrics.gauge('headway_rebuild_done_ratio', 'How much of a rebuild is done; absent while none runs', async () => {
    const newest = await rebuilds.newest(FLEET);
    if (newest?.state !== 'running') return [];
    return [{ value: newest.done / Math.max(1, newest.total), labels: { projection: FLEET } }];
  });
  measureFleet(metrics, views);
}

function measureFleet(metrics: Metrics, views: Views): void {
  metrics.gauge('headway_works', 'Works by class', async () => {
    const { works } = await views.countAll();
    return trajectoryClasses.map((name) => ({ value: works.get(name) ?? 0, labels: { class: name } }));
  });
  metrics.gauge('headway_open_signals', 'Open signals by kind', async () => {
    const { openSignals } = await views.countAll();
    return signalKinds.map((kind) => ({ value: openSignals.get(kind) ?? 0, labels: { kind } }));
  });
}
