import { createMemoryCounters } from '../../src/limits/counters-memory.ts';
import { createRedisCounters, type RedisCountersOptions } from '../../src/limits/counters-redis.ts';
import { createSharedCounts } from '../../src/limits/shared-counts.ts';
import type { Counters, Reading, UsageStore } from '../../src/limits/store.ts';
import type { UsageWriterOptions } from '../../src/limits/usage-writer.ts';
import type { RedisLink } from '../../src/redis/link.ts';

/** Counters of a process with one thread. */
export type ProcessCounters = Counters & {
  /** Writes all counts that are not in the store yet. */
  close(): Promise<void>;
};

type Store = Pick<UsageStore, 'usage' | 'addUsage'>;
type MemoryOptions = UsageWriterOptions & { nowMs(): number; newestReading?(sub: string): Reading | null };

export function memoryCounters(store: Store, options: MemoryOptions): ProcessCounters {
  const counts = createSharedCounts(store, options);
  return { ...createMemoryCounters(counts, { thread: 0, ...options }), close: counts.close };
}

export type RedisOptions = UsageWriterOptions & Omit<RedisCountersOptions, 'thread'>;

export function redisCounters(link: RedisLink, store: Store, options: RedisOptions): ProcessCounters {
  const counts = createSharedCounts(store, { nowMs: Date.now, ...options });
  return { ...createRedisCounters(link, store, counts, { thread: 0, ...options }), close: counts.close };
}
