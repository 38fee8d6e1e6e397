/** Keeps the results of a function. If there are `max` of them, all are dropped and computed again when they are needed. */
export function cached<Key, Value>(max: number, compute: (key: Key) => Value): (key: Key) => Value {
  const results = new Map<Key, Value>();
  return (key) => {
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = compute(key);
    if (results.size >= max) results.clear();
    results.set(key, result);
    return result;
  };
}
