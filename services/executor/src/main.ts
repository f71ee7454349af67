import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { readAccessSettings } from '@headway/access';
import { connectPostgresClaims } from '@headway/claims';
import { STREAMS } from '@headway/contracts';
import { connectJetStreamLog } from '@headway/eventlog';
import { pause, runService } from '@headway/runtime';
import { createFileAdapter } from './adapters/file.ts';
import { createGitRefAdapter } from './adapters/git-ref.ts';
import { createHttpAdapter } from './adapters/http.ts';
import { createNatsPublishAdapter } from './adapters/nats-publish.ts';
import { createPostgresRowAdapter } from './adapters/postgres-row.ts';
import { createWebhookAdapter } from './adapters/webhook.ts';
import { config } from './config.ts';
import { createExecutor } from './executor.ts';
import { readFailpoints } from './failpoints.ts';
import { connectPostgresJournal } from './journal/postgres-journal.ts';
import { readTargets } from './targets.ts';

runService({
  name: 'executor',
  async main(scope) {
    const { logger, signal } = scope;
    const settings = config.read(process.env);
    const access = readAccessSettings(process.env);
    const targets = readTargets(settings.HEADWAY_EFFECT_TARGETS_FILE);
    const url = settings.HEADWAY_POSTGRES_URL;
    const log = await connectJetStreamLog({ servers: settings.HEADWAY_NATS_URL, name: 'headway executor' });
    scope.onClose('log', () => log.close());
    const claims = connectPostgresClaims(url);
    scope.onClose('claims', () => claims.close());
    const journal = connectPostgresJournal({ url });
    scope.onClose('journal', () => journal.close());
    const adapters = [
      createHttpAdapter(targets.http),
      createPostgresRowAdapter(targets.postgres),
      createNatsPublishAdapter(targets.nats),
      createFileAdapter(targets.file),
      createGitRefAdapter(targets.git),
      createWebhookAdapter(targets.webhook),
    ];
    for (const adapter of adapters) scope.onClose(`adapter ${adapter.kind}`, () => adapter.close());
    const { app, ended } = createExecutor({
      journal,
      claims,
      log,
      adapters,
      holder: `executor/${hostname()}/${process.pid}/${randomUUID()}`,
      access,
      publicHosts: settings.HEADWAY_PUBLIC_HOSTS,
      logger,
      pause,
      signal,
      slots: settings.HEADWAY_EXECUTOR_SLOTS,
      marginMs: settings.HEADWAY_EXECUTOR_LEASE_MARGIN_MS,
      failpoints: readFailpoints(settings.HEADWAY_EXECUTOR_FAILPOINTS),
      checks: {
        log: async () => {
          const { lastSequence, replicas } = await log.describe(STREAMS.effects);
          return { ready: true, detail: { lastSequence, replicas } };
        },
        store: async () => {
          await journal.ping();
          return { ready: true };
        },
      },
    });
    scope.onClose('work under way', () => ended);
    scope.onClose('http', () => app.close());
    void ended.then((reason) => reason !== null && scope.fail(reason));
    scope.announce({ url: await app.listen({ host: settings.HEADWAY_HOST, port: settings.HEADWAY_PORT }) });
  },
});
