import type { Scalar } from './literal.ts';

/** Rows as one array per column, for `unnest`: a statement has few parameters however many rows there are. */
export function columns<Item>(count: number, items: readonly Item[], rowOf: (item: Item) => Scalar[]): Scalar[][] {
  const all: Scalar[][] = Array.from({ length: count }, () => []);
  for (const item of items) {
    const row = rowOf(item);
    for (let i = 0; i < count; i++) all[i]?.push(row[i] ?? null);
  }
  return all;
}
