import { readAccessSettings } from '@headway/access';
import { STREAMS } from '@headway/contracts';
import { connectJetStreamLog } from '@headway/eventlog';
import { ARCHIVE_READER, createLevel, openReadModel } from '@headway/readmodel';
import { createMetrics, measureDurability, pause, runService } from '@headway/runtime';
import { readAttempt } from '@headway/signatures';
import { config } from './config.ts';
import { createIngest } from './ingest.ts';
import { rulesOf } from './intake/rules-file.ts';
import { tickForEver } from './ticks.ts';

const clock = { now: () => Date.now() };

runService({
  name: 'ingest',
  async main(scope) {
    const { logger, signal } = scope;
    const settings = config.read(process.env);
    const rules = await rulesOf(settings.HEADWAY_SIGNATURE_RULES);
    const access = readAccessSettings(process.env);
    const log = await connectJetStreamLog({
      servers: settings.HEADWAY_NATS_URL,
      name: 'headway ingest',
      monitorUrl: settings.HEADWAY_NATS_MONITOR_URL,
    });
    scope.onClose('log', () => log.close());
    const readModel = openReadModel({ url: settings.HEADWAY_POSTGRES_URL, name: 'headway ingest' });
    scope.onClose('store', () => readModel.close());
    const metrics = createMetrics('ingest');
    measureDurability(metrics, log);
    const { app, ended } = createIngest({
      metrics,
      log,
      archive: readModel.identities,
      level: createLevel({ log, streams: [STREAMS.evidence], records: readModel.bus }),
      signals: {
        threadOf: readModel.views.threadOf,
        recorded: () => readModel.views.place(ARCHIVE_READER, STREAMS.record),
      },
      readAttempt: (attempt) => readAttempt(attempt, rules),
      clock,
      logger,
      access,
      publicHosts: settings.HEADWAY_PUBLIC_HOSTS,
      indexEntries: settings.HEADWAY_IDENTITY_ENTRIES,
      signal,
      checks: {
        log: async () => {
          const { lastSequence } = await log.describe(STREAMS.evidence);
          return { ready: true, detail: { lastSequence, durability: await log.durability() } };
        },
        store: async () => {
          await readModel.ping();
          return { ready: true };
        },
      },
    });
    scope.onClose('http', () => app.close());
    const url = await app.listen({ host: settings.HEADWAY_HOST, port: settings.HEADWAY_PORT });
    scope.onClose('identities', () => ended);
    const ticking = tickForEver({ log, clock, pause, everySeconds: settings.HEADWAY_TICK_SECONDS, signal, logger });
    scope.onClose('ticks', () => ticking);
    scope.announce({ url });
  },
});
