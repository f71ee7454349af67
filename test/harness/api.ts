import type { EventsAnswer, Page, SignalView, TimelineEntry, WorkView } from '@headway/contracts';
import type { ServiceName, Services } from './services.ts';

/** The HTTP API as a tenant sees it, with the operator token. Throws on every answer that is not a success. */
export function apiOf(services: Pick<Services, 'token' | 'url'>, tenant = 'default', ingest: ServiceName = 'ingest') {
  const headers = { authorization: `Bearer ${services.token}`, 'headway-tenant': tenant };
  const get = async <Answer>(path: string): Promise<Answer> => {
    const answer = await fetch(services.url('projection') + path, { headers });
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  };
  return {
    post: async (events: readonly unknown[]): Promise<EventsAnswer> => {
      const answer = await fetch(`${services.url(ingest)}/v1/events`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-ndjson' },
        body: events.map((event) => JSON.stringify(event)).join('\n'),
      });
      const text = await answer.text();
      if (answer.status !== 202) throw new Error(`POST /v1/events: ${answer.status} ${text}`);
      return JSON.parse(text) as EventsAnswer;
    },
    /** The first page of the fleet. */
    works: (after: string | null) => get<Page<WorkView>>(`/v1/works${after === null ? '' : `?after=${after}`}`),
    work: (work: string, after: string | null) =>
      get<WorkView>(`/v1/works/${encodeURIComponent(work)}${after === null ? '' : `?after=${after}`}`),
    timeline: async (work: string): Promise<readonly TimelineEntry[]> => {
      const entries: TimelineEntry[] = [];
      let cursor: string | null = null;
      do {
        const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const page: Page<TimelineEntry> = await get(`/v1/works/${encodeURIComponent(work)}/timeline?limit=500${more}`);
        entries.push(...page.items);
        cursor = page.next;
      } while (cursor !== null);
      return entries;
    },
    signals: async (after: string | null): Promise<readonly SignalView[]> =>
      (await get<Page<SignalView>>(`/v1/signals?limit=500${after === null ? '' : `&after=${after}`}`)).items,
  };
}
