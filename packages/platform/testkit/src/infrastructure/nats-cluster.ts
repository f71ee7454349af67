import { connect } from '@nats-io/transport-node';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { startLocalNats } from './local-nats.ts';
import type { NatsOptions, TestNats } from './test-nats.ts';

const NODES = 3;
const ELECTED_WITHIN_MS = 60_000;

/** Three servers on loopback that hold streams together. */
export interface TestNatsCluster {
  readonly nodes: readonly TestNats[];
  /** The addresses of all of them, with commas between. */
  readonly url: string;
  readonly version: string;
  /** The node that leads a stream now; waits for an election. */
  leaderOf(stream: string): Promise<TestNats>;
  /** Resolves when every node is up and every replica of a stream is current. */
  whole(stream: string): Promise<void>;
  stop(): Promise<void>;
}

interface StreamCluster {
  readonly leader?: string;
  readonly replicas?: readonly { readonly name: string; readonly current?: boolean; readonly offline?: boolean }[];
}

/**
 * Three local nats-servers that form a cluster. They sync at intervals unless told otherwise: what is acknowledged is on
 * two of them, and a killed process leaves what it wrote to the system.
 */
export async function startNatsCluster(options: Pick<NatsOptions, 'sync'> = {}): Promise<TestNatsCluster> {
  const routePorts: number[] = [];
  while (routePorts.length < NODES) {
    const port = await freePort();
    if (!routePorts.includes(port)) routePorts.push(port);
  }
  const routes = routePorts.map((port) => `nats-route://127.0.0.1:${port}`).join(', ');
  const nodes = await Promise.all(
    routePorts.map((port) =>
      startLocalNats({
        sync: options.sync ?? 'interval',
        configuration: `cluster {\n  name: headway_test_${routePorts[0]}\n  host: 127.0.0.1\n  port: ${port}\n  routes: [${routes}]\n}`,
      }),
    ),
  );
  const url = nodes.map((node) => node.url).join(',');
  const clusterOf = async (stream: string): Promise<StreamCluster> => {
    const connection = await connect({ servers: nodes.map((node) => node.url.replace('nats://', '')), timeout: 2_000 });
    try {
      const answer = await connection.request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: 2_000 });
      return answer.json<{ cluster?: StreamCluster }>().cluster ?? {};
    } finally {
      await connection.close();
    }
  };
  const nodeNamed = (name: string | undefined) => nodes.find((node) => name?.endsWith(`_${new URL(node.url).port}`));
  return {
    nodes,
    url,
    version: nodes[0]?.version ?? 'unknown',
    leaderOf: (stream) =>
      eventually(async () => nodeNamed((await clusterOf(stream)).leader), {
        within: ELECTED_WITHIN_MS,
        what: `a leader of ${stream}`,
      }) as Promise<TestNats>,
    async whole(stream) {
      await eventually(
        async () => {
          const { leader, replicas = [] } = await clusterOf(stream);
          return (
            leader !== undefined &&
            replicas.length === NODES - 1 &&
            replicas.every(({ current, offline }) => current === true && offline !== true)
          );
        },
        { within: ELECTED_WITHIN_MS, what: `three current replicas of ${stream}` },
      );
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}
