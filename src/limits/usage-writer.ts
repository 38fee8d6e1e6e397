import { windowIndex } from '../core/quota.ts';
import type { Usage, UsageStore } from './store.ts';

export type UsageWriterOptions = {
  /** How often day and month are written down: what a crash may lose. */
  flushMs?: number;
  /** Counts that could not be written are kept and tried again. */
  onFlushFailed?(error: unknown): void;
};

/** What this node has counted and not yet written down. */
export type UsageWriter = {
  /** Counts for the day and the month that hold `ts`; less than nothing for what is given back. */
  note(sub: string, ts: number, count: number): void;
  /** When it is done, everything noted before is written, or `onFlushFailed` was told. */
  flush(): Promise<void>;
  /** Writes the rest. */
  close(): Promise<void>;
};

/** Half of the second that a crash may cost, the other half being left for the write itself. */
const FLUSH_MS = 500;

export function createUsageWriter(
  control: Pick<UsageStore, 'addUsage'>,
  { flushMs = FLUSH_MS, onFlushFailed = () => {} }: UsageWriterOptions,
): UsageWriter {
  /** By account, one entry for each day. */
  let unwritten = new Map<string, Usage[]>();
  /** The windows of the second that was noted last: under load most notes fall into it. */
  let newest = { ts: Number.NaN, day: 0, month: 0 };
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  const timer = setInterval(flush, flushMs);
  timer.unref();

  function note(sub: string, ts: number, count: number): void {
    if (ts !== newest.ts) newest = { ts, day: windowIndex('day', ts), month: windowIndex('month', ts) };
    add({ sub, day: newest.day, month: newest.month, count });
  }

  function add(usage: Usage): void {
    const days = unwritten.get(usage.sub);
    const known = days?.find(({ day }) => day === usage.day);
    if (known !== undefined) known.count += usage.count;
    else if (days !== undefined) days.push(usage);
    else unwritten.set(usage.sub, [usage]);
  }

  /** One batch is written at a time, and whoever asks meanwhile shares the next one. */
  function flush(): Promise<void> {
    next ??= writing.then(write);
    writing = next;
    return next;
  }

  async function write(): Promise<void> {
    next = null;
    if (unwritten.size === 0) return;
    const batch = [...unwritten.values()].flat();
    unwritten = new Map();
    try {
      await control.addUsage(batch);
    } catch (error) {
      batch.forEach(add);
      onFlushFailed(error);
    }
  }

  return {
    note,
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
