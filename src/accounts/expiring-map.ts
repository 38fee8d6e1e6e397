/** A Map that forgets: entries older than `lifeMs`, and the oldest ones when there are more than `maxEntries`. */
export type ExpiringMap<V> = {
  get(key: string, nowMs: number): V | undefined;
  /** Begins the life of the entry anew. */
  set(key: string, value: V, nowMs: number): void;
  delete(key: string): void;
  readonly size: number;
};

export function createExpiringMap<V>(options: { maxEntries: number; lifeMs: number }): ExpiringMap<V> {
  const { maxEntries, lifeMs } = options;
  const entries = new Map<string, { value: V; setMs: number }>();

  /** A Map keeps the order of insertion, and all lives are equally long: the oldest stand first. */
  function forget(nowMs: number): void {
    for (const [key, { setMs }] of entries) {
      if (nowMs - setMs < lifeMs && entries.size <= maxEntries) return;
      entries.delete(key);
    }
  }

  return {
    get(key, nowMs) {
      const entry = entries.get(key);
      return entry !== undefined && nowMs - entry.setMs < lifeMs ? entry.value : undefined;
    },
    set(key, value, nowMs) {
      entries.delete(key);
      entries.set(key, { value, setMs: nowMs });
      forget(nowMs);
    },
    delete(key) {
      entries.delete(key);
    },
    get size() {
      return entries.size;
    },
  };
}
