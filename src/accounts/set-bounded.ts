/** A Map keeps the order of insertion: when there is one entry too many, the first is the oldest. */
export function setBounded<V>(map: Map<string, V>, key: string, value: V, maxEntries: number): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxEntries && oldest !== undefined) map.delete(oldest);
}
