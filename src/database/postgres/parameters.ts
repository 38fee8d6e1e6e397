import { arrayLiteral, type Scalar } from './array-literal.ts';

/** The parameters of a statement. Arrays are for `unnest($1::bigint[])`. */
export type Param = Scalar | readonly Scalar[];

/** Rows as one array per column, for `unnest`: the number of parameters does not depend on the number of rows. */
export function columns<Item>(count: number, items: readonly Item[], rowOf: (item: Item) => Scalar[]): string[] {
  const values = Array.from({ length: count }, () => new Array<Scalar>(items.length));
  for (let i = 0; i < items.length; i++) {
    const row = rowOf(items[i] as Item);
    for (let c = 0; c < count; c++) (values[c] as Scalar[])[i] = row[c] ?? null;
  }
  return values.map(arrayLiteral);
}

/** For rows that are arrays already. */
export const asGiven = (row: Scalar[]): Scalar[] => row;

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
