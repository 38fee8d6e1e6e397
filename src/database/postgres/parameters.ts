import { toHex } from '../../core/byte-text.ts';

/** The parameters of a statement. Arrays are for `unnest($1::bigint[])`. */
export type Scalar = string | number | boolean | null | Uint8Array;
export type Param = Scalar | readonly Scalar[];

/**
 * An array literal of PostgreSQL. The driver would infer the type of an array from its first element; for a text the
 * server infers it from the statement. One string that grows: an array of elements to join takes twice as long.
 */
export function arrayLiteral(values: readonly Scalar[]): string {
  let literal = '{';
  let separator = '';
  for (const value of values) {
    literal += separator + element(value);
    separator = ',';
  }
  return `${literal}}`;
}

function element(value: Scalar): string {
  if (typeof value === 'number') return `${value}`;
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return `"\\\\x${toHex(value)}"`;
  if (typeof value !== 'string') return String(value);
  return SPECIAL.test(value) ? `"${value.replace(EACH_SPECIAL, '\\$&')}"` : `"${value}"`;
}

const SPECIAL = /["\\]/;
const EACH_SPECIAL = /["\\]/g;

/** Rows as one array per column, for `unnest`: the number of parameters does not depend on the number of rows. */
export function columns<Item>(count: number, items: readonly Item[], rowOf: (item: Item) => Scalar[]): Scalar[][] {
  const all: Scalar[][] = Array.from({ length: count }, () => []);
  for (const item of items) {
    const row = rowOf(item);
    for (let i = 0; i < count; i++) (all[i] as Scalar[]).push(row[i] ?? null);
  }
  return all;
}

/**
 * A select list that reads rows from arrays, one for each column: `$1` has the first type. For `from unnest(…)` the server first
 * copies each array into a table in its memory: a row of events takes 6.6 µs instead of 5.9.
 */
export function unnested(...types: readonly string[]): string {
  return types.map((type, i) => `unnest($${i + 1}::${type}[])`).join(', ');
}

/** Runs a statement with these rows as arrays, and none without rows. Returns the number of changed rows. */
export async function runRows<Item>(
  { run }: { run(sql: string, params: readonly Param[]): Promise<number> },
  sql: string,
  items: readonly Item[],
  rowOf: (item: Item) => Scalar[],
): Promise<number> {
  const [first] = items;
  return first === undefined ? 0 : run(sql, columns(rowOf(first).length, items, rowOf));
}

/** Messages may quote external data, and PostgreSQL stores no NUL in a text. */
export function withoutNul<Text extends string | null>(text: Text): Text {
  return (text?.replaceAll('\0', '\ufffd') ?? null) as Text;
}
