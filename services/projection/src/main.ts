import { readAccessSettings } from '@headway/access';
import type { StreamName } from '@headway/contracts';
import { connectJetStreamLog } from '@headway/eventlog';
import { openReadModel } from '@headway/readmodel';
import { createHttp, createMetrics, measureDurability, runService } from '@headway/runtime';
import { createChangeWatch } from './change-watch.ts';
import { config } from './config.ts';
import { createCoverage } from './coverage.ts';
import { measureProjection } from './metrics.ts';
import { project } from './projection.ts';
import { mountOperating, mountReading } from './routes/mount.ts';

/** Joins the ports with their adapters: the log is JetStream, the read models are in Postgres. */
runService({
  name: 'projection',
  main: async (scope) => {
    const settings = config.read(process.env);
    const access = readAccessSettings(process.env);
    const model = openReadModel({
      url: settings.HEADWAY_POSTGRES_URL,
      connections: settings.HEADWAY_POSTGRES_CONNECTIONS,
      name: 'headway-projection',
    });
    scope.onClose('Postgres', () => model.close());
    const log = await connectJetStreamLog({
      servers: settings.HEADWAY_NATS_URL,
      name: 'projection',
      monitorUrl: settings.HEADWAY_NATS_MONITOR_URL,
    });
    scope.onClose('the log', () => log.close());

    const watch = createChangeWatch();
    const ports = { log, writer: model.writer, views: model.views, rebuilds: model.rebuilds, ping: model.ping };
    const projecting = project({ ports, watch, logger: scope.logger, signal: scope.signal });
    scope.onClose('projecting', () => projecting.ended);

    const endOf = (stream: string) =>
      log.describe(stream as StreamName).then(
        ({ lastSequence }) => lastSequence,
        () => null,
      );
    const metrics = createMetrics('projection');
    measureDurability(metrics, log);
    measureProjection(metrics, { views: model.views, projecting, endOf });
    const http = createHttp({
      service: 'projection',
      metrics,
      logger: scope.logger,
      access,
      checks: {
        ...projecting.checks,
        log: async () => ({ ready: true, detail: { durability: await log.durability() } }),
      },
      publicHosts: settings.HEADWAY_PUBLIC_HOSTS,
    });
    const covered = createCoverage({ views: model.views, watch, generationOf: projecting.generationOf, endOf });
    const reading = { views: model.views, watch, covered };
    mountReading(http, reading);
    mountOperating(http, { ...reading, log, projecting, endOf });
    scope.onClose('HTTP', () => http.close());
    const url = await http.listen({ host: settings.HEADWAY_HOST, port: settings.HEADWAY_PORT });
    scope.announce({ url });
  },
});
