/** A map as plain JSON that is copied in small parts only: buckets by a hash of the key. */
export type Table<Value> = Readonly<Record<string, Readonly<Record<string, Value>>>>;

/** Buckets of a table. */
const BUCKETS = 256;

/** Integer-like keys keep the buckets in one order, whatever the history. */
function bucketOf(key: string): string {
  let sum = 0;
  for (let at = 0; at < key.length; at += 1) sum = (Math.imul(sum, 31) + key.charCodeAt(at)) | 0;
  return String((sum >>> 0) % BUCKETS);
}

export function get<Value>(table: Table<Value>, key: string): Value | undefined {
  const bucket = table[bucketOf(key)];
  return bucket !== undefined && Object.hasOwn(bucket, key) ? bucket[key] : undefined;
}

/** With the value under the key; without the key where the value is `undefined`. */
export function put<Value>(table: Table<Value>, key: string, value: Value | undefined): Table<Value> {
  const name = bucketOf(key);
  const bucket = table[name] ?? {};
  if (value !== undefined) return { ...table, [name]: { ...bucket, [key]: value } };
  if (!Object.hasOwn(bucket, key)) return table;
  const { [key]: _gone, ...rest } = bucket;
  if (Object.keys(rest).length > 0) return { ...table, [name]: rest };
  const { [name]: _empty, ...others } = table;
  return others;
}

export function valuesOf<Value>(table: Table<Value>): Value[] {
  return Object.values(table).flatMap((bucket) => Object.values(bucket));
}

export const emptyTable: Table<never> = {};
