import { encodeRecord, type ReaderPosition, STREAMS, subjects } from '@headway/contracts';
import { LogUnavailable } from '@headway/eventlog';
import type { TrajectoryLog } from './ports.ts';

/** Attempts to write a position against other writers of the same one. */
const WRITE_ATTEMPTS = 5;

/**
 * Where a reader starts again, kept in the log under `record.position.<reader>`. Only a hint: too low a position costs
 * time, since everything that is written tells what it covers. Positions never go back.
 */
export interface Positions {
  read(): Promise<Readonly<Record<string, number>>>;
  /** Raises the named positions and leaves the others as they are. Throws where the log does not take it. */
  write(positions: Readonly<Record<string, number>>): Promise<void>;
}

export function createPositions(log: TrajectoryLog, reader: string): Positions {
  const subject = subjects.position(reader);
  let known: { sequence: number; positions: Record<string, number> } | null = null;
  const load = async () => {
    const message = await log.last(STREAMS.record, subject);
    if (message === null) return { sequence: 0, positions: {} };
    const record = JSON.parse(Buffer.from(message.payload).toString('utf8')) as ReaderPosition;
    return { sequence: message.sequence, positions: { ...record.positions } };
  };
  return {
    read: async () => {
      known = await load();
      return known.positions;
    },
    write: async (raised) => {
      let reason = '';
      for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt += 1) {
        known ??= await load();
        const positions = { ...known.positions };
        for (const [name, value] of Object.entries(raised)) positions[name] = Math.max(value, positions[name] ?? 0);
        const answer = await log.append({
          subject,
          payload: encodeRecord({ v: 1, positions }),
          expectedLastSequence: known.sequence,
          messageId: `${subject}.${known.sequence}.${JSON.stringify(raised)}`,
        });
        if (answer.outcome === 'appended' || answer.outcome === 'duplicate') {
          known = { sequence: answer.position.sequence, positions };
          return;
        }
        known = null;
        reason = answer.reason;
      }
      throw new LogUnavailable(`${subject} was not written: ${reason}`);
    },
  };
}
