import { type Counts, type Policy, WINDOWS, type WindowName, windowIndex } from '../core/quota.ts';
import type { Admission, Counters, Reading, UsageStore } from './store.ts';
import { createUsageWriter, type UsageWriter, type UsageWriterOptions } from './usage-writer.ts';

type MemoryCountersOptions = UsageWriterOptions & {
  nowMs(): number;
  /** Shared with other counters. Default: a new writer. */
  writer?: UsageWriter;
  /** Counts of an account that may be newer than those in the store. */
  newestReading?(sub: string): Reading | null;
};

type Cell = { index: number; count: number };
type Entry = Record<WindowName, Cell>;

/** Counters of one process. They are atomic because they are synchronous, once an account is loaded. */
export function createMemoryCounters(
  store: Pick<UsageStore, 'usage' | 'addUsage'>,
  options: MemoryCountersOptions,
): Counters {
  const { nowMs, writer = createUsageWriter(store, options), newestReading = () => null } = options;
  const entries = new Map<string, Promise<Entry> | Entry>();
  const calls = new Map<string, Cell>();

  function now(): number {
    return Math.floor(nowMs() / 1000);
  }

  async function load(sub: string): Promise<Entry> {
    const ts = now();
    const [day, month] = [windowIndex('day', ts), windowIndex('month', ts)];
    const used = await store.usage(sub, day, month);
    const entry = entryFrom({ second: 0, minute: 0, hour: 0, ...used }, newestReading(sub), ts);
    entries.set(sub, entry);
    return entry;
  }

  /** A promise only until the account is loaded. Concurrent callers share it. */
  function entryOf(sub: string): Promise<Entry> | Entry {
    const entry = entries.get(sub);
    if (entry !== undefined) return entry;
    const loading = load(sub);
    entries.set(sub, loading);
    loading.catch(() => entries.delete(sub));
    return loading;
  }

  function takeFrom(entry: Entry, sub: string, policies: readonly Policy[], weight: number): Admission {
    const ts = now();
    roll(entry, ts);
    const isAdmitted = policies.every(({ window, limit }) => entry[window].count < limit);
    if (isAdmitted) {
      for (const window of WINDOWS) entry[window].count += weight;
      writer.add(sub, ts, weight);
    }
    return { isAdmitted, counts: countsOf(entry), ts };
  }

  return {
    take(sub, policies, weight) {
      const entry = entryOf(sub);
      if (entry instanceof Promise) return entry.then((loaded) => takeFrom(loaded, sub, policies, weight));
      return takeFrom(entry, sub, policies, weight);
    },

    async takeCall(sub, limit) {
      const ts = now();
      const cell = calls.get(sub) ?? { index: ts, count: 0 };
      if (ts > cell.index) Object.assign(cell, { index: ts, count: 0 });
      const isAdmitted = cell.count < limit;
      if (isAdmitted) cell.count++;
      calls.set(sub, cell);
      return { isAdmitted, counts: { second: cell.count, minute: 0, hour: 0, day: 0, month: 0 }, ts };
    },

    async read(sub) {
      const entry = await entryOf(sub);
      const ts = now();
      roll(entry, ts);
      return { counts: countsOf(entry), ts };
    },

    async refund(sub, weight, ts) {
      // Without the store the account may not be loaded; the refund is written when the store is back.
      const entry = await Promise.resolve(entryOf(sub)).catch(() => null);
      for (const window of ['day', 'month'] as const) {
        if (entry?.[window].index === windowIndex(window, ts)) entry[window].count -= weight;
      }
      writer.add(sub, ts, -weight);
    },

    close: () => writer.close(),
  };
}

/** Either of the two may be older than the other, and counts only grow, so the greater one is used. */
function entryFrom(used: Counts, newest: Reading | null, ts: number): Entry {
  const cell = (window: WindowName): Cell => {
    const index = windowIndex(window, ts);
    const isSameWindow = newest !== null && windowIndex(window, newest.ts) === index;
    return { index, count: isSameWindow ? Math.max(used[window], newest.counts[window]) : used[window] };
  };
  return Object.fromEntries(WINDOWS.map((window) => [window, cell(window)])) as Entry;
}

/** Resets the windows that have ended. A clock that was set back does not reset a window a second time. */
function roll(entry: Entry, ts: number): void {
  if (ts === entry.second.index) return; // the longer windows were checked in the same second
  for (const window of WINDOWS) {
    const index = windowIndex(window, ts);
    if (index > entry[window].index) entry[window] = { index, count: 0 };
  }
}

function countsOf({ second, minute, hour, day, month }: Entry): Counts {
  return { second: second.count, minute: minute.count, hour: hour.count, day: day.count, month: month.count };
}
