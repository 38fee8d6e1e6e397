import { type Counts, WINDOWS, type WindowName, windowIndex } from '../core/quota.ts';
import type { Control, Usage } from '../store/control.ts';
import type { Counters, Reading } from './counters.ts';

export type MemoryCountersOptions = {
  nowMs(): number;
  /** How often day and month are written down: what a crash may lose. */
  flushMs?: number;
  /** Counts that could not be written are kept and tried again. */
  onFlushFailed?(error: unknown): void;
};

/** Half of the second that a crash may cost, the other half being left for the write itself. */
const FLUSH_MS = 500;

type Cell = { index: number; count: number };
type Entry = Record<WindowName, Cell>;

/** Counters of one process. Everything after the first reading of an account happens in one turn of the event loop. */
export function createMemoryCounters(
  control: Pick<Control, 'usage' | 'addUsage'>,
  options: MemoryCountersOptions,
): Counters {
  const { nowMs, flushMs = FLUSH_MS, onFlushFailed = () => {} } = options;
  const entries = new Map<string, Promise<Entry> | Entry>();
  const calls = new Map<string, Cell>();
  let unwritten = new Map<string, Usage>();
  let writing: Promise<void> = Promise.resolve();

  const timer = setInterval(() => {
    if (unwritten.size > 0) writing = writing.then(write);
  }, flushMs);
  timer.unref();

  function now(): number {
    return Math.floor(nowMs() / 1000);
  }

  async function load(sub: string): Promise<Entry> {
    const ts = now();
    const [day, month] = [windowIndex('day', ts), windowIndex('month', ts)];
    const used = await control.usage(sub, day, month);
    const cell = (window: WindowName, count = 0) => ({ index: windowIndex(window, ts), count });
    const entry: Entry = {
      second: cell('second'),
      minute: cell('minute'),
      hour: cell('hour'),
      day: cell('day', used.day),
      month: cell('month', used.month),
    };
    entries.set(sub, entry);
    return entry;
  }

  /** Waits only the first time; callers that come meanwhile wait for the same reading. */
  function entryOf(sub: string): Promise<Entry> | Entry {
    const known = entries.get(sub);
    if (known !== undefined) return known;
    const loading = load(sub);
    entries.set(sub, loading);
    loading.catch(() => entries.delete(sub));
    return loading;
  }

  function note(sub: string, ts: number, count: number): void {
    const [day, month] = [windowIndex('day', ts), windowIndex('month', ts)];
    const key = `${sub} ${day}`;
    const usage = unwritten.get(key) ?? { sub, day, month, count: 0 };
    usage.count += count;
    unwritten.set(key, usage);
  }

  async function write(): Promise<void> {
    const batch = unwritten;
    unwritten = new Map();
    try {
      await control.addUsage([...batch.values()]);
    } catch (error) {
      for (const [key, { sub, day, month, count }] of batch) {
        const later = unwritten.get(key)?.count ?? 0;
        unwritten.set(key, { sub, day, month, count: count + later });
      }
      onFlushFailed(error);
    }
  }

  return {
    async take(sub, policies, weight) {
      const entry = await entryOf(sub);
      const ts = now();
      roll(entry, ts);
      const isAdmitted = policies.every(({ window, limit }) => entry[window].count < limit);
      if (isAdmitted) {
        for (const window of WINDOWS) entry[window].count += weight;
        note(sub, ts, weight);
      }
      return { isAdmitted, ...reading(entry, ts) };
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
      return reading(entry, ts);
    },

    async giveBack(sub, weight, ts) {
      const entry = await entryOf(sub);
      for (const window of ['day', 'month'] as const) {
        if (entry[window].index === windowIndex(window, ts)) entry[window].count -= weight;
      }
      note(sub, ts, -weight);
    },

    async close() {
      clearInterval(timer);
      await writing;
      if (unwritten.size > 0) await write();
    },
  };
}

/** A window that has passed is empty again. A clock that was set back does not open one a second time. */
function roll(entry: Entry, ts: number): void {
  for (const window of WINDOWS) {
    const index = windowIndex(window, ts);
    if (index > entry[window].index) entry[window] = { index, count: 0 };
  }
}

function reading(entry: Entry, ts: number): Reading {
  const counts = Object.fromEntries(WINDOWS.map((window) => [window, entry[window].count])) as Counts;
  return { counts, ts };
}
