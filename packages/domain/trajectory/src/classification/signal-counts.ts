import type { SignalEvent } from '@headway/contracts';
import type { WorkLine } from './lines.ts';

type Counted = 'raised' | 'acknowledged' | 'withdrawn' | 'superseded';

const nothing: Record<Counted, number> = { raised: 0, acknowledged: 0, withdrawn: 0, superseded: 0 };

/** What became of signals, over all and by work. */
export class SignalCounts {
  readonly all: Record<Counted, number> = { ...nothing };
  /** The id of the first signal of all. */
  first: string | null = null;
  readonly #works = new Map<string, Record<Counted, number> & { newest: string; last: WorkLine['signal'] }>();

  take(event: SignalEvent): void {
    const counted = countedOf(event);
    if (counted === null) return;
    this.all[counted] += 1;
    const { signal, kind, works } = event.data as { signal: string; kind: string; works: readonly string[] };
    this.first ??= signal;
    const [work] = works;
    if (kind === 'shared-failure' || work === undefined) return;
    const entry = this.#works.get(work) ?? { ...nothing, newest: '', last: null };
    entry[counted] += 1;
    if (counted === 'raised') {
      entry.newest = signal;
      entry.last = 'open';
    } else if (entry.newest === signal) entry.last = counted;
    this.#works.set(work, entry);
  }

  of(work: string): Pick<WorkLine, 'signal' | 'signals' | 'acknowledged' | 'withdrawn'> {
    const entry = this.#works.get(work);
    return {
      signal: entry?.last ?? null,
      signals: entry?.raised ?? 0,
      acknowledged: entry?.acknowledged ?? 0,
      withdrawn: entry?.withdrawn ?? 0,
    };
  }

  get open(): number {
    const { raised, acknowledged, withdrawn, superseded } = this.all;
    return raised - acknowledged - withdrawn - superseded;
  }
}

function countedOf(event: SignalEvent): Counted | null {
  switch (event.type) {
    case 'headway.signal.raised':
      return 'raised';
    case 'headway.signal.acknowledged':
      return 'acknowledged';
    case 'headway.signal.withdrawn':
      return 'withdrawn';
    case 'headway.signal.superseded':
      return 'superseded';
    default:
      return null;
  }
}
