import type { Problem } from './problems.ts';
import type { Assessment, SignalKind, TrajectoryClass } from './trajectory.ts';

/** Shapes of the HTTP API that more than one side knows. */

/** A place in a stream, as clients see it: `EVIDENCE:<generation>:<sequence>`. Opaque to them. */
export type PositionText = string;

export interface StreamPosition {
  readonly stream: string;
  readonly generation: number;
  readonly sequence: number;
}

export const formatPosition = (position: StreamPosition): PositionText =>
  `${position.stream}:${position.generation}:${position.sequence}`;

export function parsePosition(text: string): StreamPosition | null {
  const match = /^([A-Z]+):(\d{1,9}):(\d{1,15})$/.exec(text);
  return match === null
    ? null
    : { stream: match[1] as string, generation: Number(match[2]), sequence: Number(match[3]) };
}

/** The answer to one reported event. */
export type EventVerdict =
  | { readonly verdict: 'accepted'; readonly id: string; readonly source: string; readonly position: PositionText }
  | {
      readonly verdict: 'duplicate';
      readonly id: string;
      readonly source: string;
      readonly position: PositionText | null;
    }
  | {
      readonly verdict: 'refused';
      readonly id: string | null;
      readonly source: string | null;
      readonly problem: Problem;
    };

/** `POST /v1/events`: one verdict per event, in the order they were sent. */
export interface EventsAnswer {
  readonly accepted: number;
  readonly duplicate: number;
  readonly refused: number;
  /** Pass as `?after=` to read views that cover everything accepted here; `null` when nothing was. */
  readonly position: PositionText | null;
  readonly events: readonly EventVerdict[];
}

export interface WorkView {
  readonly work: string;
  readonly worker: string | null;
  readonly orchestrator: string | null;
  readonly lane: string | null;
  readonly incarnation: number;
  readonly phase: Assessment['phase'];
  readonly class: TrajectoryClass;
  readonly assessment: Assessment | null;
  /** When the evidence behind the present class began, as reported; `null` where no time was. */
  readonly since: string | null;
  readonly attempts: number;
  readonly costUsd: number | null;
  readonly openSignal: string | null;
  readonly updatedAt: string;
  /** Grows with every change of any row of the tenant; what `/v1/stream` resumes from. */
  readonly change: number;
}

export interface Page<Row> {
  readonly items: readonly Row[];
  /** Pass as `?cursor=` for the next page; `null` on the last. */
  readonly next: string | null;
  /** Up to where the view covers the evidence. */
  readonly position: PositionText;
}

export interface TimelineEntry {
  readonly entry: number;
  readonly position: PositionText;
  readonly kind: 'evidence' | 'assessment' | 'signal';
  readonly type: string;
  readonly id: string;
  readonly incarnation: number | null;
  readonly time: string | null;
  readonly recordedAt: string;
  readonly data: unknown;
}

export interface SignalView {
  readonly signal: string;
  readonly kind: SignalKind;
  readonly state: 'open' | 'acknowledged' | 'withdrawn' | 'superseded';
  readonly works: readonly string[];
  readonly incarnation: number | null;
  readonly rule: string | null;
  readonly gate: string | null;
  readonly signature: string | null;
  readonly count: number | null;
  readonly reason: string;
  readonly to: readonly string[];
  readonly raisedAt: string;
  readonly closedAt: string | null;
  /** Who acknowledged and with what intent, why it was withdrawn, or by which signal it was superseded. */
  readonly closing: Readonly<Record<string, unknown>> | null;
}
