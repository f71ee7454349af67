import { clusterIsSafe, connectJetStreamLog, provisionStreams } from '@headway/eventlog';
import { describeEventLog } from '@headway/eventlog/conformance';
import { startNats, startNatsCluster } from '@headway/testkit';
import { connect } from '@nats-io/transport-node';
import { expect, it } from 'vitest';

const { version, ...probe } = await startNats({ own: true });
await probe.stop();

// A server whose clusters let two writers through is refused; there is nothing more to be promised of it.
if (!clusterIsSafe(version))
  it(`refuses a cluster of nats-server ${version}, which lets two writers through`, async () => {
    const cluster = await startNatsCluster();
    try {
      await expect(provisionStreams({ servers: cluster.url, name: 'old cluster', replicas: 3 })).rejects.toThrow(
        /2\.10\.19 or newer/,
      );
    } finally {
      await cluster.stop();
    }
  });
else
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
