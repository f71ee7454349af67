import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { readAccessSettings } from '@headway/access';
import { connectPostgresClaims } from '@headway/claims';
import { STREAMS } from '@headway/contracts';
import { connectJetStreamLog } from '@headway/eventlog';
import { createLevel, openReadModel } from '@headway/readmodel';
import { createHttp, createMetrics, measureDurability, runService } from '@headway/runtime';
import { config } from './config.ts';
import { measureClassifier } from './metrics.ts';
import { startReplica } from './replica.ts';

/** The classifier asks the store only how far the log is archived. */
const STORE_CONNECTIONS = 2;

runService({
  name: 'classifier',
  main: async (scope) => {
    const settings = config.read(process.env);
    const log = await connectJetStreamLog({
      servers: settings.HEADWAY_NATS_URL,
      name: 'headway-classifier',
      monitorUrl: settings.HEADWAY_NATS_MONITOR_URL,
    });
    scope.onClose('log', () => log.close());
    const claims = connectPostgresClaims(settings.HEADWAY_POSTGRES_URL);
    scope.onClose('claims', () => claims.close());

    const store = openReadModel({
      url: settings.HEADWAY_POSTGRES_URL,
      connections: STORE_CONNECTIONS,
      name: 'headway-classifier',
    });
    scope.onClose('store', () => store.close());

    const replica = startReplica({
      log,
      claims,
      holder: `${hostname()}/${process.pid}/${randomUUID()}`,
      logger: scope.logger,
      level: createLevel({ log, streams: [STREAMS.evidence, STREAMS.record], records: store.bus }),
      signal: scope.signal,
    });
    scope.onClose('replica', () => replica.ended);

    const metrics = createMetrics('classifier');
    measureDurability(metrics, log);
    measureClassifier(metrics, replica);
    const http = createHttp({
      service: 'classifier',
      metrics,
      logger: scope.logger,
      access: readAccessSettings(process.env),
      publicHosts: [],
      checks: {
        log: async () => ({ ready: true, detail: { durability: await log.durability() } }),
        replica: () => {
          const reason = replica.trouble();
          const duties = replica.duties();
          const detail = {
            partitions: duties.partitions.size,
            signaller: duties.signaller,
            feed: duties.feed,
            fenced: replica.fenced(),
          };
          return reason === null ? { ready: true, detail } : { ready: false, reason, detail };
        },
      },
    });
    scope.onClose('http', () => http.close());
    await http.listen({ host: settings.HEADWAY_HOST, port: settings.HEADWAY_PORT });
    const address = http.server.address();
    scope.announce({ port: typeof address === 'object' && address !== null ? address.port : settings.HEADWAY_PORT });
  },
});
