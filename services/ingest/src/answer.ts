import {
  type EventsAnswer,
  type EventVerdict,
  formatPosition,
  type Problem,
  parsePosition,
  problem,
} from '@headway/contracts';

/** What a request is answered with. */
export interface Answer {
  readonly status: number;
  readonly body: EventsAnswer | (Problem & EventsAnswer);
  /** The same request may succeed later: say when to come back. */
  readonly retry: boolean;
}

/**
 * The status tells a client what to do with the request as a whole; the verdicts tell it event by event.
 *
 * - 202: at least one event was accepted or is a duplicate. Refused ones stand beside it with their problems.
 * - Nothing was taken: problem details, with the verdicts as further members. The status is
 *   - the event's own, where the request held one event (409 for a conflict);
 *   - 503 with Retry-After, where at least one refusal may pass: send the request again;
 *   - 422 otherwise: sending it again unchanged changes nothing.
 */
export function answerOf(verdicts: readonly EventVerdict[]): Answer {
  const counts = { accepted: 0, duplicate: 0, refused: 0 };
  for (const { verdict } of verdicts) counts[verdict] += 1;
  const answer: EventsAnswer = { ...counts, position: newestPosition(verdicts), events: verdicts };
  if (counts.accepted + counts.duplicate > 0) return { status: 202, body: answer, retry: false };
  const problems = verdicts.flatMap((one) => (one.verdict === 'refused' ? [one.problem] : []));
  const passing = problems.find(mayPass);
  const chosen =
    problems.length === 1
      ? (problems[0] as Problem)
      : (passing ??
        problem('nothing_accepted', 'Every event of the request was refused; `events` says why, in their order.'));
  return { status: chosen.status, body: { ...chosen, ...answer }, retry: passing !== undefined };
}

export const mayPass = ({ status }: Problem): boolean => status === 503 || status === 429;

function newestPosition(verdicts: readonly EventVerdict[]): string | null {
  let newest: ReturnType<typeof parsePosition> = null;
  for (const one of verdicts) {
    const position = one.verdict === 'refused' || one.position === null ? null : parsePosition(one.position);
    if (position === null) continue;
    const newer =
      newest === null ||
      position.generation > newest.generation ||
      (position.generation === newest.generation && position.sequence > newest.sequence);
    if (newer) newest = position;
  }
  return newest === null ? null : formatPosition(newest);
}
