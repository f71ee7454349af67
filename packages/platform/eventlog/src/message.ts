import type { StreamName } from '@headway/contracts';

export interface LogMessage {
  readonly stream: StreamName;
  readonly generation: number;
  readonly sequence: number;
  readonly subject: string;
  /** As appended. */
  readonly headers: Readonly<Record<string, string>>;
  /** As appended; absent where the writer gave none. */
  readonly messageId?: string;
  readonly payload: Uint8Array;
  /** When the server took it; milliseconds since the Unix epoch. For people, never for rules. */
  readonly recordedAt: number;
}
