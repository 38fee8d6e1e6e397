import { setTimeout as wait } from 'node:timers/promises';

/** Clients of `/metrics` and `/readyz` often have a timeout of one second. */
const WAIT_MS = 300;

const TOO_LATE = Symbol('too late');

/**
 * The same read, but within 300 ms: if it takes longer, the value of the last read that ended, or `fallback` if
 * there was none. Concurrent calls share one read. A read that fails throws.
 */
export function lastKnown<T>(read: () => Promise<T>, fallback: T): () => Promise<T> {
  let known = fallback;
  let reading: Promise<T> | null = null;

  function readOnce(): Promise<T> {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  }

  return async () => {
    const current = readOnce().then((value) => {
      known = value;
      return value;
    });
    current.catch(() => {}); // it may fail after the wait
    const value = await Promise.race([current, wait(WAIT_MS, TOO_LATE as typeof TOO_LATE, { ref: false })]);
    return value === TOO_LATE ? known : value;
  };
}
