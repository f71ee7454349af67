import { encodeRecord, subjects, type TimelineEntry } from '@headway/contracts';
import type { ReadModel } from '@headway/readmodel';
import { expect, it } from 'vitest';
import type { apiOf } from '../harness/api.ts';
import { planFleet } from '../harness/fleet-plan.ts';
import { outcomeOf } from './outcome.ts';

const plan = planFleet({ works: 2, rounds: 3, seed: 1 });
const sent = plan.rounds.flat();

interface Change {
  readonly archived?: (ids: readonly string[]) => readonly string[];
  readonly projected?: (ids: readonly string[]) => readonly string[];
  readonly gaps?: readonly { readonly first: number; readonly last: number }[];
}

/** The counts over an archive and a view as `change` leaves them; the n-th event stands at sequence n. */
function countsAfter({ archived = (ids) => ids, projected = (ids) => ids, gaps = [] }: Change) {
  async function* readArchive() {
    for (const id of archived(sent.map((event) => event.id)))
      yield {
        subject: subjects.evidence('default', 'any'),
        payload: encodeRecord({ v: 1, events: [{ id }], contents: [''] } as unknown as Parameters<
          typeof encodeRecord
        >[0]),
      };
  }
  const timeline = (work: string) =>
    Promise.resolve(
      projected((plan.ofWork.get(work) ?? []).map((event) => event.id)).map(
        (id) => ({ kind: 'evidence', id }) as TimelineEntry,
      ),
    );
  return outcomeOf({
    model: { readArchive, bus: { gaps: () => Promise.resolve(gaps) } } as unknown as ReadModel,
    api: { timeline } as unknown as ReturnType<typeof apiOf>,
    plan,
    acknowledged: new Map(sent.map(({ id }, at) => [id, at + 1])),
  });
}

const without = (gone: string) => (ids: readonly string[]) => ids.filter((id) => id !== gone);
const twice = (again: string) => (ids: readonly string[]) => ids.flatMap((id) => (id === again ? [id, id] : [id]));
const third = sent[2]?.id as string;
const nothing = { acknowledged: 6, archived: 6, projected: 6, doubled: 0, lost: 0, named: 0 };

it('counts nothing lost and nothing doubled where each event stands once', async () => {
  expect(await countsAfter({})).toEqual(nothing);
});

it('reports an event that the archive or the view lost', async () => {
  expect(await countsAfter({ archived: without(third) })).toEqual({ ...nothing, archived: 5, lost: 1 });
  expect(await countsAfter({ projected: without(third) })).toEqual({ ...nothing, projected: 5, lost: 1 });
});

it('reports an event that stands twice in the archive or in the view', async () => {
  expect(await countsAfter({ archived: twice(third) })).toEqual({ ...nothing, doubled: 1 });
  expect(await countsAfter({ projected: twice(third) })).toEqual({ ...nothing, doubled: 1 });
});

it('tells a loss within a named gap from one that nobody names', async () => {
  const archived = without(third);
  expect(await countsAfter({ archived, gaps: [{ first: 3, last: 3 }] })).toEqual({ ...nothing, archived: 5, named: 1 });
  expect(await countsAfter({ archived, gaps: [{ first: 4, last: 9 }] })).toMatchObject({ lost: 1, named: 0 });
});
