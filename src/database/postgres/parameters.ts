import { toHex } from '../../core/byte-text.ts';

/** The parameters of a statement. Arrays are for `unnest($1::bigint[])`. */
export type Scalar = string | number | boolean | null | Uint8Array;
export type Param = Scalar | readonly Scalar[];

/**
 * An array literal of PostgreSQL. The driver would infer the type of an array from its first element; for a text the
 * server infers it from the statement.
 */
export function arrayLiteral(values: readonly Scalar[]): string {
  let literal = '{';
  for (let i = 0; i < values.length; i++) literal = appended(literal, i, values[i] as Scalar);
  return `${literal}}`;
}

/** One string that grows: an array of elements to join takes twice as long. The comma first: most elements are short. */
function appended(literal: string, index: number, value: Scalar): string {
  return literal + (index === 0 ? element(value) : `,${element(value)}`);
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
export function columns<Item>(count: number, items: readonly Item[], rowOf: (item: Item) => Scalar[]): string[] {
  const literals: string[] = Array(count).fill('{');
  for (let i = 0; i < items.length; i++) {
    const row = rowOf(items[i] as Item);
    for (let c = 0; c < count; c++) literals[c] = appended(literals[c] as string, i, row[c] ?? null);
  }
  return literals.map((literal) => `${literal}}`);
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
