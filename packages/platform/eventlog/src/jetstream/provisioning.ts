import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamAPI,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { DUPLICATE_WINDOW_SECONDS } from '../log.ts';
import type { ConsumerDeclaration } from '../reacting.ts';
import { DECLARED_CONSUMERS, DECLARED_STREAMS, type StreamDeclaration } from '../streams.ts';
import { connectNats, type NatsAccess } from './connection.ts';
import { answered, generationText, isStreamNotFound, managerOver } from './questions.ts';
import { provisionConsumer } from './reacting.ts';

export interface ProvisionOptions extends NatsAccess {
  /** Servers that hold each stream: 1, 3 or 5. 1 unless told. */
  readonly replicas?: number;
  /** The declared ones unless told. */
  readonly consumers?: readonly ConsumerDeclaration[];
}

export interface Provisioned {
  /** The stream, or the stream and its consumer: `EFFECTS/executor`. */
  readonly stream: string;
  readonly change: 'created' | 'updated' | 'unchanged' | 'refused';
  /** Why it was not brought to what is declared; the stream is as it was. */
  readonly refused?: string;
}

/**
 * Makes the declared streams and consumers, or brings the settings of those that exist to what is declared. Messages and a stream's
 * generation stay. Running it again changes nothing. What a stream cannot be changed to without losing messages is
 * refused, and told.
 */
export async function provisionStreams(options: ProvisionOptions): Promise<readonly Provisioned[]> {
  const connection = await connectNats(options);
  try {
    const manager = await managerOver(connection);
    const replicas = options.replicas ?? 1;
    checkCluster(connection.info?.version ?? 'unknown', replicas);
    const done: Provisioned[] = [];
    for (const declaration of DECLARED_STREAMS)
      done.push(
        await answered(`provisioning ${declaration.name}`, () => provisionOne(manager.streams, declaration, replicas)),
      );
    for (const consumer of options.consumers ?? DECLARED_CONSUMERS) {
      const name = `${consumer.stream}/${consumer.name}`;
      const change = await answered(`provisioning ${name}`, () => provisionConsumer(manager, consumer, replicas));
      done.push({ stream: name, change });
    }
    return done;
  } finally {
    await connection.close();
  }
}

async function provisionOne(
  streams: StreamAPI,
  declaration: StreamDeclaration,
  replicas: number,
): Promise<Provisioned> {
  const { name: stream } = declaration;
  const wanted = settingsOf(declaration, replicas);
  const found = await streams.info(stream).catch((error: unknown) => {
    if (isStreamNotFound(error)) return null;
    throw error;
  });
  if (found === null) {
    await streams.add({ ...wanted, name: stream, description: generationText(1), ...FOR_EVER });
    return { stream, change: 'created' };
  }
  const fixed = Object.entries(FOR_EVER).find(([name, value]) => found.config[name as keyof typeof FOR_EVER] !== value);
  if (fixed !== undefined) return refusal(stream, `its ${fixed[0]} cannot be changed to ${fixed[1]}`);
  if (!differs(found.config, wanted) && found.config.description?.startsWith('generation'))
    return { stream, change: 'unchanged' };
  const description = found.config.description || generationText(1);
  try {
    await streams.update(stream, { ...wanted, description });
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status < 500) return refusal(stream, error.message);
    throw error;
  }
  return { stream, change: 'updated' };
}

const refusal = (stream: string, why: string): Provisioned => ({
  stream,
  change: 'refused',
  refused: `is left as it is: ${why}. Its messages are safe; \`headway bus restore\` makes a stream anew from the archive once it is deleted`,
});

/**
 * Older clusters take two appends that expect the same sequence (nats-server issue 4320), or expect that there is none
 * (5644): every fence of Headway would be open.
 */
const CLUSTER_SINCE = [2, 10, 19] as const;

/** Whether several servers of this version refuse the second of two appends that expect the same sequence. */
export function clusterIsSafe(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  const [oldestMajor, oldestMinor, oldestPatch] = CLUSTER_SINCE;
  if (major !== oldestMajor) return major > oldestMajor;
  return minor === oldestMinor ? patch >= oldestPatch : minor > oldestMinor;
}

function checkCluster(version: string, replicas: number): void {
  if (replicas === 1 || clusterIsSafe(version)) return;
  throw new RangeError(
    `nats-server ${version} with ${replicas} replicas takes two appends that expect the same sequence: run ${CLUSTER_SINCE.join('.')} or newer, or one replica`,
  );
}

/** What cannot be changed later. */
export const FOR_EVER = { storage: StorageType.File, retention: RetentionPolicy.Limits } as const;

export function settingsOf({ root, discard, maxAgeSeconds }: StreamDeclaration, replicas: number) {
  return {
    subjects: [`${root}.>`],
    discard: discard === 'new' ? DiscardPolicy.New : DiscardPolicy.Old,
    max_age: maxAgeSeconds === null ? 0 : nanos(maxAgeSeconds * 1_000),
    max_msgs_per_subject: -1,
    duplicate_window: nanos(DUPLICATE_WINDOW_SECONDS * 1_000),
    num_replicas: replicas,
    allow_direct: true,
  } satisfies Partial<StreamConfig>;
}

function differs(found: StreamConfig, wanted: Partial<StreamConfig>): boolean {
  return Object.entries(wanted).some(
    ([name, value]) => JSON.stringify(found[name as keyof StreamConfig]) !== JSON.stringify(value),
  );
}
