import type { SignalEvent } from '@headway/contracts';
import { unreachable } from '@headway/kernel';
import type { SignalRow } from '@headway/readmodel';
import type { At } from './work.ts';

/** What one event of the signaller means: the signal's row after it, who is in it, and whose timeline tells of it. */
export interface SignalStep {
  /** `null`: the signal is not known here, or the event is about none. */
  readonly row: SignalRow | null;
  readonly members: readonly { readonly work: string; readonly present: boolean }[];
  readonly works: readonly string[];
}

/** Recipients of one signal that are kept; of a larger shared failure the later ones are not listed. */
export const RECIPIENTS = 1_000;

/** `row` is the signal that the event is about, as it stands; `joined` are those who are on the work that joins it. */
export function afterSignalEvent(
  row: SignalRow | null,
  tenant: string,
  event: SignalEvent,
  at: At,
  joined: readonly string[] = [],
): SignalStep {
  switch (event.type) {
    case 'headway.signal.raised': {
      const { works } = event.data;
      return { row: raised(tenant, event, at), members: works.map((work) => ({ work, present: true })), works };
    }
    case 'headway.signal.acknowledged': {
      const { intent, from, works } = event.data;
      return { row: closed(row, 'acknowledged', { intent, from }, at), members: [], works };
    }
    case 'headway.signal.withdrawn': {
      const { reason, works } = event.data;
      return { row: closed(row, 'withdrawn', { reason }, at), members: [], works };
    }
    case 'headway.signal.superseded': {
      const { by, works } = event.data;
      return { row: closed(row, 'superseded', { by }, at), members: [], works };
    }
    case 'headway.signal.joined':
      return {
        row: withRecipients(row, joined),
        members: [{ work: event.data.work, present: true }],
        works: [event.data.work],
      };
    case 'headway.signal.left':
      return { row, members: [{ work: event.data.work, present: false }], works: [event.data.work] };
    case 'headway.reply.declined':
      return { row: null, members: [], works: [event.data.work] };
    default:
      return unreachable(event);
  }
}

function withRecipients(row: SignalRow | null, joined: readonly string[]): SignalRow | null {
  if (row === null || joined.every((name) => row.recipients.includes(name))) return row;
  return { ...row, recipients: [...new Set([...row.recipients, ...joined])].slice(0, RECIPIENTS) };
}

function raised(tenant: string, { data }: Extract<SignalEvent, { type: 'headway.signal.raised' }>, at: At): SignalRow {
  const { signal, kind, incarnation, rule, gate, signature, diff, count, reason, to } = data;
  return {
    tenant,
    signal,
    kind,
    state: 'open',
    incarnation,
    rule,
    gate,
    signature,
    diff,
    count,
    reason,
    recipients: to.slice(0, RECIPIENTS),
    raisedSequence: at.sequence,
    raisedAt: at.recordedAt,
    closedAt: null,
    closing: null,
    change: 0,
  };
}

const closed = (
  row: SignalRow | null,
  state: Exclude<SignalRow['state'], 'open'>,
  closing: Readonly<Record<string, unknown>>,
  at: At,
): SignalRow | null => (row === null ? null : { ...row, state, closing, closedAt: at.recordedAt });
