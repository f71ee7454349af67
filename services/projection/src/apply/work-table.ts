import { type Changes, storableText, type WorkKey, type WorkRow } from '@headway/readmodel';
import { unknownWork } from '../projectors/work.ts';

/** The works that one batch touches, in memory: loaded once, changed, and written once. */
export class WorkTable {
  readonly #rows = new Map<string, WorkRow>();
  readonly #changed = new Set<string>();

  static async load(changes: Changes, keys: readonly WorkKey[]): Promise<WorkTable> {
    const table = new WorkTable();
    const distinct = new Map(keys.map(({ tenant, work }) => [keyOf(tenant, work), { tenant, work }]));
    if (distinct.size > 0)
      for (const row of await changes.loadWorks([...distinct.values()]))
        table.#rows.set(keyOf(row.tenant, row.work), row);
    return table;
  }

  get(tenant: string, work: string): WorkRow {
    return this.#rows.get(keyOf(tenant, work)) ?? unknownWork(tenant, work);
  }

  set(row: WorkRow): void {
    const key = keyOf(row.tenant, row.work);
    this.#rows.set(key, row);
    this.#changed.add(key);
  }

  async save(changes: Changes): Promise<void> {
    const rows = [...this.#changed].map((key) => ({ ...(this.#rows.get(key) as WorkRow), change: changes.change }));
    await changes.saveWorks(rows);
  }
}

/** NUL is no character of a stored text, so that no two pairs share a key. */
const keyOf = (tenant: string, work: string) => `${storableText(tenant)}\0${storableText(work)}`;
