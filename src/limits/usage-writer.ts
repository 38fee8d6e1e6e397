import { windowIndex } from '../core/quota.ts';
import type { Usage, UsageStore } from './store.ts';

export type UsageWriterOptions = {
  /** How often day and month are written to the store. A crash loses the counts since the last write. */
  flushMs?: number;
  /** Called when counts could not be written. They are kept, and the next flush tries again. */
  onFlushFailed?(error: unknown): void;
};

type CollectingOptions = UsageWriterOptions & {
  /** Called before each write, to add what was counted elsewhere. */
  collect?(): void;
};

/** Collects the counts of this node and writes them to the store in batches. */
type UsageWriter = {
  /** Adds to the day and the month of `ts`. A refund has a negative count. */
  add(sub: string, ts: number, count: number): void;
  /** Returns true when everything added before is written, false after `onFlushFailed`. */
  flush(): Promise<boolean>;
  /** Stops the timer and writes the rest. */
  close(): Promise<void>;
};

/** A crash may lose one second of counts: half of it until the flush, half for the write itself. */
const FLUSH_MS = 500;

export function createUsageWriter(
  store: Pick<UsageStore, 'addUsage'>,
  { flushMs = FLUSH_MS, onFlushFailed = () => {}, collect = () => {} }: CollectingOptions,
): UsageWriter {
  /** By account, one entry per day. */
  let unwritten = new Map<string, Usage[]>();
  /** The windows of the last second, cached: under load most calls of `add` are in the same second. */
  let newest = { ts: Number.NaN, day: 0, month: 0 };
  let writing: Promise<unknown> = Promise.resolve();
  let next: Promise<boolean> | null = null;
  const timer = setInterval(flush, flushMs);
  timer.unref();

  function add(sub: string, ts: number, count: number): void {
    if (ts !== newest.ts) newest = { ts, day: windowIndex('day', ts), month: windowIndex('month', ts) };
    addUnwritten({ sub, day: newest.day, month: newest.month, count });
  }

  function addUnwritten(usage: Usage): void {
    const days = unwritten.get(usage.sub);
    const sameDay = days?.find(({ day }) => day === usage.day);
    if (sameDay !== undefined) sameDay.count += usage.count;
    else if (days !== undefined) days.push(usage);
    else unwritten.set(usage.sub, [usage]);
  }

  /** Writes one batch at a time. Calls during a write share the next batch. */
  function flush(): Promise<boolean> {
    next ??= writing.then(write);
    writing = next;
    return next;
  }

  async function write(): Promise<boolean> {
    next = null;
    collect();
    if (unwritten.size === 0) return true;
    const batch = [...unwritten.values()].flat();
    unwritten = new Map();
    try {
      await store.addUsage(batch);
      return true;
    } catch (error) {
      batch.forEach(addUnwritten);
      onFlushFailed(error);
      return false;
    }
  }

  return {
    add,
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
