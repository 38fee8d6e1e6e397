import { createBatchedFind } from '../core/batched-find.ts';
import { createExpiringMap } from '../core/expiring-map.ts';
import type { ListKey } from './store.ts';

/** By the hash of the key, in hexadecimal digits. */
export type ReadKeys = (hashes: readonly string[]) => Promise<ReadonlyMap<string, ListKey>>;

type KeyCache = {
  find(hash: string): Promise<ListKey | null>;
  /** After a change by this process. */
  clear(): void;
};

/** A key that was removed on another node must be refused within five seconds. */
const CACHE_MS = 2_000;
/** 3 MB at 0.3 kB each. Keys that were evicted, and invented ones, are read again. */
const MAX_CACHED = 10_000;

/** For a database on another machine: a thousand devices that fetch together cost a few reads. */
export function createKeyCache(read: ReadKeys): KeyCache {
  const openMap = () => createExpiringMap<Promise<ListKey | null>>({ maxEntries: MAX_CACHED, lifeMs: CACHE_MS });
  const readKey = createBatchedFind(read);
  let cache = openMap();

  return {
    find(hash) {
      const now = performance.now(); // never set back
      const cached = cache.get(hash, now);
      if (cached !== undefined) return cached;
      const found = readKey(hash);
      const into = cache;
      into.set(hash, found, now);
      found.catch(() => into.delete(hash));
      return found;
    },
    clear() {
      cache = openMap();
    },
  };
}
