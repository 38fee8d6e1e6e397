/** Drops the oldest values until the others are few and small enough. The newest stays. */
export function dropOldest(values: Map<string, { size: number }>, maxValues: number, maxBytes: number): void {
  let bytes = 0;
  for (const { size } of values.values()) bytes += size;
  for (const [key, { size }] of values) {
    if (values.size === 1 || (values.size <= maxValues && bytes <= maxBytes)) return;
    values.delete(key);
    bytes -= size;
  }
}
