import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';
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
  readonly change: 'created' | 'updated' | 'unchanged';
}

/**
 * Makes the declared streams and consumers, or brings the settings of those that exist to what is declared. Messages and a stream's
 * generation stay. Running it again changes nothing. Throws where the server refuses a change.
 */
export async function provisionStreams(options: ProvisionOptions): Promise<readonly Provisioned[]> {
  const connection = await connectNats(options);
  try {
    const manager = await managerOver(connection);
    const { streams } = manager;
    const done: Provisioned[] = [];
    for (const declaration of DECLARED_STREAMS) {
      const wanted = settingsOf(declaration, options.replicas ?? 1);
      const change = await answered(`provisioning ${declaration.name}`, async () => {
        const found = await streams.info(declaration.name).catch((error) => {
          if (isStreamNotFound(error)) return null;
          throw error;
        });
        if (found === null) {
          await streams.add({ ...wanted, name: declaration.name, description: generationText(1), ...FOR_EVER });
          return 'created';
        }
        if (!differs(found.config, wanted) && found.config.description?.startsWith('generation')) return 'unchanged';
        const description = found.config.description || generationText(1);
        await streams.update(declaration.name, { ...wanted, description });
        return 'updated';
      });
      done.push({ stream: declaration.name, change });
    }
    for (const consumer of options.consumers ?? DECLARED_CONSUMERS) {
      const name = `${consumer.stream}/${consumer.name}`;
      const change = await answered(`provisioning ${name}`, () =>
        provisionConsumer(manager, consumer, options.replicas ?? 1),
      );
      done.push({ stream: name, change });
    }
    return done;
  } finally {
    await connection.close();
  }
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
