import type { RuleId, TrajectoryClass } from '@headway/contracts';

/** The last assessment of a work and what became of its signals, as `headway classify` prints it. */
export interface WorkLine {
  readonly work: string;
  readonly incarnation: number;
  readonly class: TrajectoryClass;
  readonly rule: RuleId;
  /** What became of the work's newest own signal; `null` = it had none. */
  readonly signal: 'open' | 'acknowledged' | 'withdrawn' | 'superseded' | null;
  readonly signals: number;
  readonly acknowledged: number;
  readonly withdrawn: number;
  readonly done: boolean;
}

/** A shared failure that is open at the end. */
export interface SharedLine {
  readonly shared: { readonly gate: string; readonly signature: string; readonly works: readonly string[] };
}

/** Counts over everything that was read, shared failures included. */
export interface SummaryLine {
  readonly summary: {
    readonly events: number;
    readonly signals: number;
    readonly open: number;
    readonly acknowledged: number;
    readonly withdrawn: number;
    readonly superseded: number;
  };
}
