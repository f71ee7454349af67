import { connectJetStreamLog, provisionStreams } from '@headway/eventlog';
import { describeEventLog } from '@headway/eventlog/conformance';
import { startNatsCluster } from '@headway/testkit';
import { connect } from '@nats-io/transport-node';

describeEventLog('the log on a cluster of three', async () => {
  const cluster = await startNatsCluster();
  const access = { servers: cluster.url, name: 'conformance', replicas: 3 };
  await provisionStreams(access);
  await cluster.whole('RECORD');
  return {
    connect: () => connectJetStreamLog(access),
    async recreate(stream) {
      const connection = await connect({ servers: cluster.nodes.map(({ url }) => url) });
      await connection.request(`$JS.API.STREAM.DELETE.${stream}`);
      await connection.close();
      await provisionStreams(access);
    },
    stop: () => cluster.stop(),
  };
});
