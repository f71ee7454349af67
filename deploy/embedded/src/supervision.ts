import type { DataFolder } from './data-folder.ts';
import type { ProcessRecord } from './leftovers.ts';
import type { RememberedPorts } from './ports.ts';
import type { Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';

/** What every part of the supervisor works with. */
export interface Supervision {
  readonly settings: Settings;
  readonly data: DataFolder;
  readonly record: ProcessRecord;
  readonly ports: RememberedPorts;
  readonly terminal: Terminal;
  /** Aborted as soon as Headway is asked to stop. */
  readonly stopping: AbortSignal;
}
