import type { Adapter, Observed } from '@headway/effects';
import type { Logger } from '@headway/runtime';
import type { Failpoints } from './failpoints.ts';
import type { Journal, ToReconcile } from './ports.ts';
import { LEASE_MARGIN_MS } from './worker.ts';

export interface ReconcilerOptions {
  readonly journal: Journal;
  readonly adapters: ReadonlyMap<string, Adapter>;
  readonly holder: string;
  readonly failpoints: Failpoints;
  readonly logger: Logger;
  readonly onChange: () => void;
}

export type Reconciled = 'succeeded' | 'retry' | 'uncertain' | 'fenced' | 'busy';

/**
 * Looks at the target of an operation that may have had its effect, under a new epoch, and keeps what is there. Of two that
 * look at once, one has the claim. One that dies leaves the operation as it was; the next looks again.
 */
export function createReconciler(options: ReconcilerOptions): (operation: string) => Promise<Reconciled> {
  const { journal, adapters, holder, failpoints, logger, onChange } = options;

  async function look(adapter: Adapter | undefined, work: ToReconcile): Promise<Observed> {
    if (adapter === undefined) return { observed: 'unknown', reason: `no adapter for ${work.kind} runs here` };
    const prepared = adapter.prepare({
      target: work.target,
      inputs: JSON.parse(work.inputs) as Record<string, unknown>,
    });
    if (!prepared.ok) return { observed: 'unknown', reason: prepared.failure.detail };
    try {
      return await adapter.observe({
        ...work,
        plan: prepared.value.plan,
        signal: AbortSignal.timeout(adapter.timeoutMs),
      });
    } catch (error) {
      logger.error({ err: error, operation: work.operation }, 'an adapter broke while it looked');
      return { observed: 'unknown', reason: 'the adapter broke while it looked' };
    }
  }

  return async (operation) => {
    const timeoutMs = Math.max(0, ...[...adapters.values()].map((adapter) => adapter.timeoutMs));
    const claimed = await journal.claimToReconcile(operation, holder, timeoutMs + LEASE_MARGIN_MS);
    if (claimed === null) return 'busy';
    onChange();
    if (failpoints !== null) await failpoints('r01');
    const observed = await look(adapters.get(claimed.kind), claimed);
    if (failpoints !== null) await failpoints('r03');
    const outcome = await journal.reconcile(claimed, holder, observed);
    onChange();
    return outcome;
  };
}
