import type { Assessment, TrajectoryRecord } from '@headway/contracts';
import type { WorkRow } from '@headway/readmodel';
import type { At } from './work.ts';

/** The evidence that caused an assessment, where its identity is known. */
export interface Cause {
  readonly sequence: number;
  /** As reported. */
  readonly time: string | null;
}

/** A work after it was assessed. `since` is that of the evidence with which the present class began. */
export function afterAssessment(row: WorkRow, assessment: Assessment, cause: Cause | null, at: At): WorkRow {
  const goesOn =
    row.assessment !== null && row.class === assessment.class && row.assessment.incarnation === assessment.incarnation;
  return {
    ...row,
    class: assessment.class,
    rule: assessment.rule,
    assessment,
    attempts: assessment.attempts,
    doneAt: isDone(assessment) ? (row.doneAt ?? at.recordedAt) : null,
    since: goesOn ? row.since : (cause?.time ?? null),
    sinceSequence: goesOn ? row.sinceSequence : (cause?.sequence ?? null),
    updatedAt: Math.max(row.updatedAt, at.recordedAt),
  };
}

const isDone = ({ phase }: Assessment): boolean => phase === 'done' || phase === 'done-claimed';

/** Only a new class or rule is worth a line in the timeline; every assessment stays in the archive. */
export const isTurn = (row: WorkRow, assessment: Assessment): boolean =>
  row.assessment === null || row.class !== assessment.class || row.rule !== assessment.rule;

/** A work after a record that covers its evidence, whether or not anything came of it. */
export function afterCover(row: WorkRow, record: Pick<TrajectoryRecord, 'covered'>, at: At): WorkRow {
  return { ...row, covered: Math.max(row.covered, record.covered), coveredBy: Math.max(row.coveredBy, at.sequence) };
}
