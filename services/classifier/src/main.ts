import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { readAccessSettings } from '@headway/access';
import { connectPostgresClaims } from '@headway/claims';
import { connectJetStreamLog } from '@headway/eventlog';
import { createHttp, runService } from '@headway/runtime';
import { config } from './config.ts';
import { startReplica } from './replica.ts';

runService({
  name: 'classifier',
  main: async (scope) => {
    const settings = config.read(process.env);
    const log = await connectJetStreamLog({ servers: settings.HEADWAY_NATS_URL, name: 'headway-classifier' });
    scope.onClose('log', () => log.close());
    const claims = connectPostgresClaims(settings.HEADWAY_POSTGRES_URL);
    scope.onClose('claims', () => claims.close());

    const replica = startReplica({
      log,
      claims,
      holder: `${hostname()}/${process.pid}/${randomUUID()}`,
      logger: scope.logger,
      signal: scope.signal,
    });
    scope.onClose('replica', () => replica.ended);

    const http = createHttp({
      service: 'classifier',
      logger: scope.logger,
      access: readAccessSettings(process.env),
      publicHosts: [],
      checks: {
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
