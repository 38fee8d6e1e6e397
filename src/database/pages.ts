import { setImmediate } from 'node:timers/promises';
import type { Awaitable } from '../core/awaitable.ts';

/** Rows that one statement may read: it takes at most two milliseconds, so that it does not delay other requests. */
export const PAGE_ROWS = 500;

/** The result of one statement, and the key from which the next one continues; null after the last page. */
type Page<Item, Key> = { items: Item[]; next: Key | null };

/** The maximum number of items of a stream, and the signal that stops it. */
export type Bounds = {
  limit: number;
  /** Checked between statements. After an abort the stream throws the signal's reason. */
  signal: AbortSignal;
};

/**
 * Reads pages by key until `limit` items are returned; without a limit, all. Between two statements the event loop runs
 * and the caller may stop. No statement is open then, so a checkpoint of the write-ahead log can complete.
 */
export async function* readPages<Item, Key>(
  first: Key | null,
  { limit = Number.POSITIVE_INFINITY, signal }: Partial<Bounds>,
  read: (key: Key) => Awaitable<Page<Item, Key>>,
): AsyncGenerator<Item[], void, void> {
  let key = first;
  let left = limit;
  while (key !== null && left > 0) {
    signal?.throwIfAborted();
    const { items, next } = await read(key);
    const page = items.length > left ? items.slice(0, left) : items;
    if (page.length > 0) yield page;
    left -= page.length;
    key = next;
    await setImmediate();
  }
}

/**
 * Reads rows by key, `PAGE_ROWS` at a time; after `maxRows` no further page. Most reads have less than one page: the event loop
 * runs only between two of them.
 */
export async function* rowPages<Row, Key>(
  read: (after: Key) => Awaitable<Row[]>,
  first: Key,
  keyOf: (row: Row) => Key,
  maxRows: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[], void, void> {
  let key = first;
  for (let count = 0; count < maxRows; count += PAGE_ROWS) {
    const rows = await read(key);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    key = keyOf(last);
    await setImmediate();
  }
}

/** Creates a page from rows. A full page may have a successor. */
export function pageOf<Row, Item, Key>(
  rows: Row[],
  toItem: (row: Row) => Item,
  keyOf: (row: Row) => Key,
  pageRows: number = PAGE_ROWS,
): Page<Item, Key> {
  const last = rows.at(-1);
  return {
    items: rows.map(toItem),
    next: rows.length < pageRows || last === undefined ? null : keyOf(last),
  };
}

/**
 * Runs steps to their end. A single step is run at once, without a promise; between two steps the event loop runs, so each
 * should read at most `PAGE_ROWS` rows. After an abort there are no further steps.
 */
export function runSteps<Result>(steps: Generator<void, Result, void>, signal?: AbortSignal): Result | Promise<Result> {
  const first = steps.next();
  return first.done ? first.value : finishSteps(steps, signal);
}

async function finishSteps<Result>(steps: Generator<void, Result, void>, signal?: AbortSignal): Promise<Result> {
  for (;;) {
    await setImmediate();
    signal?.throwIfAborted();
    const step = steps.next();
    if (step.done) return step.value;
  }
}
