import { type Counts, type Policy, WINDOWS, type WindowName, windowIndex } from '../core/quota.ts';
import type { Admission, Counters, Reading } from './counters.ts';
import type { UsageStore } from './store.ts';
import { createUsageWriter, type UsageWriter, type UsageWriterOptions } from './usage-writer.ts';

export type MemoryCountersOptions = UsageWriterOptions & {
  nowMs(): number;
  /** Where counts are noted, when they are not the only ones that note theirs there. */
  writer?: UsageWriter;
  /** What is known of an account besides what the store holds. */
  known?(sub: string): Reading | null;
};

type Cell = { index: number; count: number };
type Entry = Record<WindowName, Cell>;

/** Counters of one process. Everything after the first reading of an account happens in one turn of the event loop. */
export function createMemoryCounters(
  control: Pick<UsageStore, 'usage' | 'addUsage'>,
  options: MemoryCountersOptions,
): Counters {
  const { nowMs, writer = createUsageWriter(control, options), known = () => null } = options;
  const entries = new Map<string, Promise<Entry> | Entry>();
  const calls = new Map<string, Cell>();

  function now(): number {
    return Math.floor(nowMs() / 1000);
  }

  async function load(sub: string): Promise<Entry> {
    const ts = now();
    const [day, month] = [windowIndex('day', ts), windowIndex('month', ts)];
    const used = await control.usage(sub, day, month);
    const entry = entryFrom({ second: 0, minute: 0, hour: 0, ...used }, known(sub), ts);
    entries.set(sub, entry);
    return entry;
  }

  /** Waits only the first time; callers that come meanwhile wait for the same reading. */
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
      writer.note(sub, ts, weight);
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

    async giveBack(sub, weight, ts) {
      const entry = await entryOf(sub);
      for (const window of ['day', 'month'] as const) {
        if (entry[window].index === windowIndex(window, ts)) entry[window].count -= weight;
      }
      writer.note(sub, ts, -weight);
    },

    close: () => writer.close(),
  };
}

/** The store may lag behind what is known, and what is known behind the store: the greater one is right. */
function entryFrom(used: Counts, known: Reading | null, ts: number): Entry {
  const cell = (window: WindowName): Cell => {
    const index = windowIndex(window, ts);
    const isSame = known !== null && windowIndex(window, known.ts) === index;
    return { index, count: isSame ? Math.max(used[window], known.counts[window]) : used[window] };
  };
  return Object.fromEntries(WINDOWS.map((window) => [window, cell(window)])) as Entry;
}

/** A window that has passed is empty again. A clock that was set back does not open one a second time. */
function roll(entry: Entry, ts: number): void {
  if (ts === entry.second.index) return; // the longer windows were looked at in the same second
  for (const window of WINDOWS) {
    const index = windowIndex(window, ts);
    if (index > entry[window].index) entry[window] = { index, count: 0 };
  }
}

function countsOf({ second, minute, hour, day, month }: Entry): Counts {
  return { second: second.count, minute: minute.count, hour: hour.count, day: day.count, month: month.count };
}
