import { type SignalsRecord, STREAMS } from '@headway/contracts';
import type { LogMessage } from '@headway/eventlog';
import { initialSignals, type SignalsState } from '@headway/trajectory';
import type { TrajectoryLog } from './ports.ts';

/**
 * A record that holds the whole state is at most so long; beyond, it holds the parts that changed. Every signal waits for
 * its record, and a long one takes long. The live works and open signals of some dozen works fit.
 */
export const WHOLE_BYTES = 16 * 1024;
/** Changed parts up to so many bytes stand in the record itself; more than that goes into records of their own before it. */
export const HERE_BYTES = 64 * 1024;
/** Changed parts are recorded together up to so many bytes; a larger one goes alone. */
export const PARTS_BYTES = 512 * 1024;

/** Buckets of the same name in the three tables of the state, as they were when they were last recorded. */
export interface RecordedPart extends Part {
  /** Where they stand in RECORD. */
  readonly sequence: number;
}

/** By reference: a bucket is another object whenever something in it changed. */
export interface Part {
  readonly works: SignalsState['works'][string] | undefined;
  readonly groups: SignalsState['groups'][string] | undefined;
  readonly open: SignalsState['open'][string] | undefined;
}

const partOf = ({ works, groups, open }: SignalsState, name: string): Part => ({
  works: works[name],
  groups: groups[name],
  open: open[name],
});

/** What belongs to no part. */
export function outsideParts({ works: _works, groups: _groups, open: _open, ...rest }: SignalsState): object {
  return rest;
}

/** The names of all parts that hold something. */
export const partNames = ({ works, groups, open }: SignalsState): ReadonlySet<string> =>
  new Set([works, groups, open].flatMap((table) => Object.keys(table)));

/** The parts that are not as they were recorded last, in groups of at most so many bytes; a larger part is one alone. */
export function changedParts(
  state: SignalsState,
  recorded: ReadonlyMap<string, RecordedPart>,
  most: number = PARTS_BYTES,
): Readonly<Record<string, Part>>[] {
  const groups: Record<string, Part>[] = [];
  let group: Record<string, Part> = {};
  let bytes = 0;
  for (const name of partNames(state)) {
    const part = partOf(state, name);
    if (samePart(recorded.get(name), part)) continue;
    const size = Buffer.byteLength(JSON.stringify(part));
    if (bytes > 0 && bytes + size > most) {
      groups.push(group);
      [group, bytes] = [{}, 0];
    }
    group[name] = part;
    bytes += size;
  }
  return bytes > 0 ? [...groups, group] : groups;
}

const samePart = (one: Part | undefined, other: Part): boolean =>
  one !== undefined && one.works === other.works && one.groups === other.groups && one.open === other.open;

/** The signals of a tenant as its newest record tells. */
export interface LoadedSignals {
  readonly head: number;
  readonly covered: number;
  readonly state: SignalsState;
  /** `null`: the state stands in one record. */
  readonly parts: Map<string, RecordedPart> | null;
}

/** Puts the state together again, also where the newest record is a part that no record names yet. */
export async function readSignals(log: Pick<TrajectoryLog, 'at'>, newest: LogMessage): Promise<LoadedSignals> {
  const last = parse(newest);
  if (last.partsOnly === undefined) return joined(log, newest.sequence, last);
  const { head } = last.partsOnly;
  if (head === 0) return { head, covered: 0, state: initialSignals(), parts: null };
  return joined(log, head, await recordAt(log, head));
}

async function joined(log: Pick<TrajectoryLog, 'at'>, head: number, record: SignalsRecord): Promise<LoadedSignals> {
  const { covered } = record;
  if (record.parts === undefined) return { head, covered, state: record.state as SignalsState, parts: null };
  const here: Readonly<Record<string, number>> = Object.fromEntries(
    Object.keys(record.here ?? {}).map((name) => [name, head]),
  );
  const places = Object.entries({ ...record.parts, ...here });
  const sequences = [...new Set(places.map(([, sequence]) => sequence))].filter((sequence) => sequence !== head);
  const records = new Map(
    await Promise.all(sequences.map(async (sequence) => [sequence, await recordAt(log, sequence)] as const)),
  );
  const read = places.map(([name, sequence]) => {
    const from = sequence === head ? record : records.get(sequence);
    const part = partsIn(from)[name];
    if (part === undefined) throw new Error(`${STREAMS.record} holds no part ${name} of signals at ${sequence}`);
    return [name, { works: part.works, groups: part.groups, open: part.open, sequence }] as const;
  });
  const table = <Member extends keyof Part>(member: Member) =>
    Object.fromEntries(read.flatMap(([name, part]) => (part[member] === undefined ? [] : [[name, part[member]]])));
  const tables = { works: table('works'), groups: table('groups'), open: table('open') };
  return {
    head,
    covered,
    state: { ...(record.state as SignalsState), ...tables } as SignalsState,
    parts: new Map(read),
  };
}

/** What a record holds of parts: all of it is parts, or some stand beside the rest. */
const partsIn = (record: SignalsRecord | undefined): Readonly<Record<string, Part>> =>
  ((record?.partsOnly === undefined ? record?.here : record.state) ?? {}) as Readonly<Record<string, Part>>;

async function recordAt(log: Pick<TrajectoryLog, 'at'>, sequence: number): Promise<SignalsRecord> {
  const message = await log.at(STREAMS.record, sequence);
  if (message === null) throw new Error(`${STREAMS.record} holds nothing at ${sequence}, where signals should stand`);
  return parse(message);
}

const parse = ({ payload }: LogMessage): SignalsRecord =>
  JSON.parse(Buffer.from(payload).toString('utf8')) as SignalsRecord;
