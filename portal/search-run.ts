import { ApiError, records, SERVER_AWAY } from './api.ts';
import { counted, nowTs, numberText } from './format.ts';
import { pathOf, type Search, windowQuery } from './search-key.ts';
import {
  type Choice,
  choiceQuery,
  createRowStore,
  NO_CHOICE,
  type Order,
  type RowStore,
  type SearchRecord,
  sortedRows,
  type View,
  viewOf,
} from './search-rows.ts';
import { signal } from './signal.ts';

// The search in progress, or the last one. It outlives its page: whoever looks at a URL and goes back pays only once.

/** How a search ended. `failed`: nothing arrived. */
type End = { how: 'done' | 'stopped' | 'full' | 'broken' } | { how: 'failed'; error: ApiError };

export type Run = {
  owner: string;
  path: string;
  search: Search;
  startedTs: number;
  store: RowStore;
  end: End | null;
  choice: Choice;
  order: Order;
  view: View;
};

export const run = signal<Run | null>(null);

/** A page with more needs hundreds of megabytes; the API and the command line have no such limit. */
const MAX_FACTS = 250_000;
/** A result that is older is asked for again. */
const KEPT_SECONDS = 600;
/** A long calculation may take a fifth of the time: between two of them the page reacts to its user. */
const PAUSE_FACTOR = 4;

const NEWEST_FIRST: Order = { by: 'ts', isDown: true };

let abort = new AbortController();

/** Starts at once, whatever it costs: the caller has shown the cost. */
export function startSearch(search: Search, owner: string): void {
  abort.abort();
  abort = new AbortController();
  const store = createRowStore();
  const path = pathOf(search);
  run.value = {
    owner,
    path,
    search,
    store,
    startedTs: nowTs(),
    end: null,
    choice: NO_CHOICE,
    order: NEWEST_FIRST,
    view: viewOf([], NO_CHOICE),
  };
  void readAll(search, store, abort.signal);
}

export const stopSearch = (): void => abort.abort();

/** True if this search is in progress or ended a moment ago. */
export function isKept(path: string, owner: string): boolean {
  const last = run.value;
  if (last?.path !== path || last.owner !== owner) return false;
  return last.end === null || (last.end.how !== 'failed' && nowTs() - last.startedTs < KEPT_SECONDS);
}

export function forgetSearch(): void {
  abort.abort();
  run.value = null;
}

async function readAll(search: Search, store: RowStore, signal: AbortSignal): Promise<void> {
  const update = createUpdater(store);
  const end = await readInto(search, store, signal, update.schedule);
  update.cancel();
  if (run.value?.store !== store) return; // another search has begun
  run.value = { ...run.value, end };
  refresh();
}

async function readInto(search: Search, store: RowStore, signal: AbortSignal, onRows: () => void): Promise<End> {
  // One more than is kept, to know whether there are more.
  const path = `/api/portal/v1/search?limit=${MAX_FACTS + 1}${windowQuery(search)}`;
  try {
    for await (const group of records<SearchRecord>(path, { [search.name]: search.value }, signal)) {
      if (signal.aborted) return { how: 'stopped' };
      const room = MAX_FACTS - store.factCount();
      store.add(group.length > room ? group.slice(0, room) : group);
      onRows();
      if (group.length > room) return { how: 'full' };
    }
    return { how: 'done' };
  } catch (error) {
    if (signal.aborted) return { how: 'stopped' };
    if (store.factCount() > 0) return { how: 'broken' };
    return { how: 'failed', error: error instanceof ApiError ? error : new ApiError(SERVER_AWAY, BROKEN) };
  }
}

const BROKEN = 'The connection ended before the first record arrived.';

/** New rows are shown at most once per animation frame, and less often when there are many. */
function createUpdater(store: RowStore) {
  let frame = 0;
  let notBeforeMs = 0;
  const show = (nowMs: number): void => {
    if (nowMs < notBeforeMs) {
      frame = requestAnimationFrame(show);
      return;
    }
    frame = 0;
    if (run.value?.store !== store) return;
    const startMs = performance.now();
    refresh();
    const endMs = performance.now();
    notBeforeMs = endMs + PAUSE_FACTOR * (endMs - startMs);
  };
  return {
    schedule(): void {
      if (frame === 0) frame = requestAnimationFrame(show);
    },
    cancel: () => cancelAnimationFrame(frame),
  };
}

/** Nothing happens if it is chosen already. */
export function choose(choice: Choice): void {
  if (run.value === null || choiceQuery(run.value.choice) === choiceQuery(choice)) return;
  run.value = { ...run.value, choice };
  refresh();
}

export function sortBy(order: Order): void {
  if (run.value === null) return;
  run.value = { ...run.value, order };
  refresh();
}

/** Rows stay in the order of their arrival until the end: a list that is sorted while it grows cannot be read. */
function refresh(): void {
  const current = run.value;
  if (current === null) return;
  const view = viewOf(current.store.rows, current.choice);
  run.value = {
    ...current,
    view: current.end === null ? view : { ...view, rows: sortedRows(view.rows, current.order) },
  };
}

/** Why a result is not the whole one; null if it is. */
export function incompleteText({ end, store }: Pick<Run, 'end' | 'store'>): string | null {
  const facts = counted(store.factCount(), 'fact');
  switch (end?.how) {
    case 'stopped':
      return `Incomplete: it was stopped after ${facts}.`;
    case 'broken':
      return `Incomplete: the connection broke after ${facts}.`;
    case 'full':
      return `Incomplete: a page shows at most ${numberText(MAX_FACTS)} facts. The API and the command line give all.`;
    default:
      return null;
  }
}
