import { connectJetStreamLog, provisionStreams } from '@headway/eventlog';
import { describeEventLog } from '@headway/eventlog/conformance';
import { startNats } from '@headway/testkit';
import { connect } from '@nats-io/transport-node';

describeEventLog('the log on JetStream', async () => {
  const nats = await startNats();
  const access = { servers: nats.url, name: 'conformance' };
  await provisionStreams(access);
  return {
    connect: () => connectJetStreamLog(access),
    async recreate(stream) {
      const connection = await connect({ servers: nats.url });
      await connection.request(`$JS.API.STREAM.DELETE.${stream}`);
      await connection.close();
      await provisionStreams(access);
    },
    stop: () => nats.stop(),
  };
});
