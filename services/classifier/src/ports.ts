import type { EventLog } from '@headway/eventlog';

/** What the classifier needs of the log. */
export type TrajectoryLog = Pick<EventLog, 'append' | 'last' | 'at' | 'newestOfEach' | 'read' | 'describe'>;

/** The part of a pino logger that is used here. */
export interface Logger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Another process wrote under a subject that this one believed to own: drop what is in memory and start from the log. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}
