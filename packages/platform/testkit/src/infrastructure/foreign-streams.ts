import { connect } from '@nats-io/transport-node';

/** Streams on a bus as somebody else would have made them: none of Headway's own. */
export interface ForeignStreams {
  add(name: string, subject: string, duplicateWindowSeconds: number): Promise<void>;
  /** Messages that a stream holds on one subject. */
  stored(name: string, subject: string): Promise<number>;
  close(): Promise<void>;
}

/** Throws what the server answers as an error. */
export async function openForeignStreams(url: string): Promise<ForeignStreams> {
  const connection = await connect({ servers: url });
  const ask = async (action: string, body: unknown) => {
    const answer = (await connection.request(`$JS.API.STREAM.${action}`, JSON.stringify(body))).json<{
      error?: { description: string };
      state?: { subjects?: Record<string, number> };
    }>();
    if (answer.error !== undefined) throw new Error(answer.error.description);
    return answer;
  };
  return {
    add: async (name, subject, duplicateWindowSeconds) => {
      const window = { duplicate_window: duplicateWindowSeconds * 1e9 };
      await ask(`CREATE.${name}`, { name, subjects: [subject], retention: 'limits', storage: 'file', ...window });
    },
    stored: async (name, subject) => {
      const { state } = await ask(`INFO.${name}`, { subjects_filter: subject });
      return state?.subjects?.[subject] ?? 0;
    },
    close: () => connection.close(),
  };
}
