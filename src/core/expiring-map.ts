/** A Map that evicts entries older than `lifeMs`, and the oldest entries beyond `maxEntries`. */
type ExpiringMap<V> = {
  get(key: string, nowMs: number): V | undefined;
  /** Restarts the lifetime of the entry. */
  set(key: string, value: V, nowMs: number): void;
  delete(key: string): void;
  readonly size: number;
};

export function createExpiringMap<V>(options: { maxEntries: number; lifeMs: number }): ExpiringMap<V> {
  const { maxEntries, lifeMs } = options;
  const entries = new Map<string, { value: V; setMs: number }>();

  /** An entry of the future is of a clock that was ahead, and would stay until that time comes. */
  const isAlive = (setMs: number, nowMs: number) => Math.abs(nowMs - setMs) < lifeMs;

  /** A Map keeps the order of insertion and all lifetimes are equal, so the oldest entries come first. */
  function evict(nowMs: number): void {
    for (const [key, { setMs }] of entries) {
      if (isAlive(setMs, nowMs) && entries.size <= maxEntries) return;
      entries.delete(key);
    }
  }

  return {
    get(key, nowMs) {
      const entry = entries.get(key);
      return entry !== undefined && isAlive(entry.setMs, nowMs) ? entry.value : undefined;
    },
    set(key, value, nowMs) {
      entries.delete(key);
      entries.set(key, { value, setMs: nowMs });
      evict(nowMs);
    },
    delete(key) {
      entries.delete(key);
    },
    get size() {
      return entries.size;
    },
  };
}
