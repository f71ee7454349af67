import type { EventsAnswer } from '@headway/contracts';
import { eventually } from '@headway/testkit';
import type { apiOf } from './api.ts';

/** How long a client goes on sending a batch before it gives up. */
const PATIENCE_MILLISECONDS = 60_000;

/** Sends a batch as a client does that must not lose it: again and again, until every event is accepted or known. */
export async function postUntilAnswered(
  api: ReturnType<typeof apiOf>,
  events: readonly unknown[],
  within: number = PATIENCE_MILLISECONDS,
): Promise<EventsAnswer> {
  let answered: EventsAnswer | null = null;
  await eventually(
    async () => {
      answered = await api.post(events);
      return answered.refused === 0;
    },
    { what: 'an answer to every event of a batch', within },
  );
  if (answered === null) throw new Error('no answer');
  return answered;
}
