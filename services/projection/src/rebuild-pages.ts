import { identityKey, STREAMS } from '@headway/contracts';
import { type ArchivedMessage, type KnownIdentities, nowhere, type Place, type Rebuild } from '@headway/readmodel';
import { evidenceSpokenOf } from './apply/record.ts';
import { type Decode, decodeAhead } from './decode.ts';

/** Messages of a stream in one transaction of a rebuild. */
export const REBUILD_PAGE = 5_000;

export interface Pages {
  /** The next batch: the same one until it is `taken`; empty at the end of the archive. */
  next(): Promise<readonly ArchivedMessage[]>;
  /** Identities that the batch speaks of, as far as they were there when it was read. */
  known(): KnownIdentities;
  taken(): void;
  /** Goes back to what was taken before the switch was begun: its transaction is undone as a whole. */
  again(): void;
}

/**
 * The archive in the order in which a projection that never stood still would have seen it: each record after the evidence
 * that it speaks of. The next page is fetched, read, and its identities asked for, while one is written.
 */
export function createPages(rebuild: Pick<Rebuild, 'page' | 'findIdentities' | 'identitiesAt'>, decode: Decode): Pages {
  const evidence = createReader(rebuild, STREAMS.evidence, decode);
  const record = createReader(rebuild, STREAMS.record, decode);
  let offered: readonly [number, number] = [0, 0];
  let settled: readonly [Place, Place] | null = null;
  return {
    async next() {
      const facts = await evidence.peek();
      const evidenceEnded = facts.length === 0;
      const covered = (facts.at(-1) ?? evidence.place()).sequence;
      const records = await record.peek();
      const early = records.findIndex((message) => !evidenceEnded && evidenceSpokenOf([message], decode) > covered);
      const ready = early === -1 ? records : records.slice(0, early);
      offered = [facts.length, ready.length];
      return [...facts, ...ready];
    },
    known() {
      const [first, second] = [evidence.known(), record.known()];
      return { get: (key) => first.get(key) ?? second.get(key) };
    },
    taken() {
      evidence.take(offered[0]);
      record.take(offered[1]);
    },
    again() {
      settled ??= [evidence.place(), record.place()];
      evidence.goBack(settled[0]);
      record.goBack(settled[1]);
    },
  };
}

interface Page {
  readonly messages: readonly ArchivedMessage[];
  readonly known: KnownIdentities;
}

const nothing: Page = { messages: [], known: new Map() };

/** Pages of one stream, one ahead. */
function createReader(
  rebuild: Pick<Rebuild, 'page' | 'findIdentities' | 'identitiesAt'>,
  stream: string,
  decode: Decode,
) {
  let place: Place = nowhere;
  let kept = nothing;
  let coming: Promise<Page> | null = null;
  const fetchAfter = async (from: Place): Promise<Page> => {
    const messages = await rebuild.page(stream, from, REBUILD_PAGE);
    await decodeAhead(messages, decode);
    const known = stream === STREAMS.evidence ? identitiesOf(rebuild, messages) : causesOf(rebuild, messages, decode);
    return { messages, known: await known };
  };
  return {
    place: () => place,
    known: () => kept.known,
    async peek(): Promise<readonly ArchivedMessage[]> {
      if (kept.messages.length > 0) return kept.messages;
      const fetched = coming ?? fetchAfter(place);
      coming = null;
      kept = await fetched;
      const last = kept.messages.at(-1);
      if (last !== undefined) {
        coming = fetchAfter(last);
        coming.catch(() => undefined);
      }
      return kept.messages;
    },
    take(count: number) {
      place = kept.messages[count - 1] ?? place;
      kept = { ...kept, messages: kept.messages.slice(count) };
    },
    goBack(to: Place) {
      place = to;
      kept = nothing;
      coming = null;
    },
  };
}

/** The identities that stand at messages of EVIDENCE. An event told twice has its own elsewhere: it is asked for later. */
async function identitiesOf(
  rebuild: Pick<Rebuild, 'identitiesAt'>,
  messages: readonly ArchivedMessage[],
): Promise<KnownIdentities> {
  const ranges = new Map<number, { generation: number; first: number; last: number }>();
  for (const { generation, sequence } of messages) {
    const range = ranges.get(generation);
    if (range === undefined) ranges.set(generation, { generation, first: sequence, last: sequence });
    else range.last = sequence;
  }
  const found = await Promise.all([...ranges.values()].map((range) => rebuild.identitiesAt(range)));
  return { get: (key) => found.map((known) => known.get(key)).find((identity) => identity !== undefined) };
}

/** The identities of the evidence that messages of RECORD name as the cause. */
function causesOf(
  rebuild: Pick<Rebuild, 'findIdentities'>,
  messages: readonly ArchivedMessage[],
  decode: Decode,
): Promise<KnownIdentities> {
  const keys = messages.flatMap((message) => {
    const decoded = decode(message);
    if (!decoded.ok || decoded.value.kind !== 'trajectory') return [];
    const { tenant, record } = decoded.value;
    return record.events.flatMap((event) =>
      event.type === 'headway.work.assessed' ? [identityKey(tenant, event.cause)] : [],
    );
  });
  return rebuild.findIdentities(keys);
}
