import type { EventLog } from '@headway/eventlog';
import type { ReadModelViews, ReadModelWriter, Rebuilds } from '@headway/readmodel';

/** What this service stands on. Only `main.ts` says what is behind each. */
export interface Ports {
  readonly log: EventLog;
  readonly writer: ReadModelWriter;
  readonly views: ReadModelViews;
  readonly rebuilds: Rebuilds;
}

export type Writer = ReadModelWriter;
export type Views = ReadModelViews;
