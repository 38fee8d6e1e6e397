import { setImmediate } from 'node:timers/promises';

/** Rows that one statement may look at: below a millisecond or two, so that others get their turn. */
export const PAGE_ROWS = 500;

/** What one statement found, and from where the next one goes on; null when there is nothing more. */
export type Page<Item, Key> = { items: Item[]; next: Key | null };

/**
 * Pulls pages by key until `limit` items were given out. Between two statements the event loop runs and the caller may
 * stop it; no statement is open meanwhile, so the write-ahead log can be folded back.
 */
export async function* readPages<Item, Key>(
  first: Key | null,
  { limit, signal }: Bounds,
  read: (key: Key) => Page<Item, Key> | Promise<Page<Item, Key>>,
): AsyncGenerator<Item[], void, void> {
  let key = first;
  let left = limit;
  while (key !== null && left > 0) {
    signal.throwIfAborted();
    const { items, next } = await read(key);
    const page = items.length > left ? items.slice(0, left) : items;
    if (page.length > 0) yield page;
    left -= page.length;
    key = next;
    await setImmediate();
  }
}

/** The page made of these rows: when there were as many as asked for, there may be more behind the last. */
export function pageOf<Row, Item, Key>(
  rows: Row[],
  toItem: (row: Row) => Item,
  keyOf: (row: Row) => Key,
): Page<Item, Key> {
  const last = rows.at(-1);
  return {
    items: rows.map(toItem),
    next: rows.length < PAGE_ROWS || last === undefined ? null : keyOf(last),
  };
}

/** How much of a stream is wanted, and when to stop looking for it. */
export type Bounds = {
  limit: number;
  /** Looked at between statements: when it is aborted the stream ends by throwing its reason. */
  signal: AbortSignal;
};
