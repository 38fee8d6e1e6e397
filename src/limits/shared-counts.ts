import { windowIndex } from '../core/quota.ts';
import { DAY_SECONDS } from '../core/time.ts';
import {
  type Cells,
  createBuffer,
  createCellFinder,
  isAhead,
  type Place,
  raiseCounts,
  release,
  SLOTS_PER_BUFFER,
  takeUnwritten,
} from './count-cells.ts';
import type { Reading, UsageStore } from './store.ts';
import { createUsageWriter, type UsageWriterOptions } from './usage-writer.ts';

/** What a thread asks the thread that owns the counts. */
export type CountsPort = {
  /** The place of the account. Its counts may not be loaded. */
  place(sub: string): Place | Promise<Place>;
  /** The same, with the counts of the store. `newest` are counts that may be newer than those. */
  loaded(sub: string, newest: Reading | null): Promise<Place>;
  /** Loaded counts are outdated: the next call of `loaded` reads the store again. */
  unload(): void;
  /** Adds to what will be written to the store, for an account that could not be loaded. */
  add(sub: string, ts: number, count: number): void;
  /** Returns true when all counts up to now are written to the store, false if that failed. */
  flush(): Promise<boolean>;
};

export type SharedCounts = CountsPort & {
  /** The thread has ended. */
  releaseThread(thread: number): void;
  /** Writes all counts that are not in the store yet. */
  close(): Promise<void>;
};

type SharedCountsOptions = UsageWriterOptions & { nowMs(): number };

/** The thread that owns the counts is the first one. */
const OWNER = 0;

/** The counts of all threads of this process. One thread owns them: it loads them from the store and writes them there. */
export function createSharedCounts(
  store: Pick<UsageStore, 'usage' | 'addUsage'>,
  options: SharedCountsOptions,
): SharedCounts {
  const accounts = new Map<string, { place: Place; cells: Cells }>();
  const cellsOf = createCellFinder();
  let newestBuffer = createBuffer();
  let loads = new Map<string, Promise<Place>>();
  const writer = createUsageWriter(store, { ...options, collect });

  function account(sub: string): { place: Place; cells: Cells } {
    const known = accounts.get(sub);
    if (known !== undefined) return known;
    const slot = accounts.size % SLOTS_PER_BUFFER;
    const bufferNumber = (accounts.size - slot) / SLOTS_PER_BUFFER;
    if (slot === 0 && bufferNumber > 0) newestBuffer = createBuffer();
    const place = { buffer: newestBuffer, bufferNumber, slot };
    const added = { place, cells: cellsOf(place) };
    accounts.set(sub, added);
    return added;
  }

  const now = () => Math.floor(options.nowMs() / 1000);

  function wasAhead(sub: string): boolean {
    const known = accounts.get(sub);
    return known !== undefined && isAhead(known.cells, now());
  }

  async function load(sub: string): Promise<Place> {
    if (wasAhead(sub)) await writer.flush(); // then the store has all counts
    const ts = now();
    const used = await store.usage(sub, windowIndex('day', ts), windowIndex('month', ts));
    const { place, cells } = account(sub);
    raiseCounts(cells, OWNER, ts, { counts: { second: 0, minute: 0, hour: 0, ...used }, ts });
    return place;
  }

  /** Concurrent calls share one read of the store. */
  function loadOnce(sub: string): Promise<Place> {
    const known = loads.get(sub);
    if (known !== undefined) return known;
    const loading = load(sub);
    const current = loads;
    current.set(sub, loading);
    loading.catch(() => current.delete(sub));
    return loading;
  }

  function collect(): void {
    for (const [sub, { cells }] of accounts) {
      takeUnwritten(cells, OWNER, (day, count) => writer.add(sub, day * DAY_SECONDS, count));
    }
  }

  return {
    place: (sub) => account(sub).place,

    async loaded(sub, newest) {
      if (wasAhead(sub)) loads.delete(sub);
      const place = await loadOnce(sub);
      if (newest !== null) raiseCounts(cellsOf(place), OWNER, now(), newest);
      return place;
    },

    unload() {
      loads = new Map();
    },

    add: writer.add,
    flush: writer.flush,

    releaseThread(thread) {
      for (const { cells } of accounts.values()) release(cells, thread);
    },

    close: writer.close,
  };
}
