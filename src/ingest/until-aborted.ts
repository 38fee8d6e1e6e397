export const ABORTED = Symbol('aborted');

/** Yields from `source` until the signal aborts, even while `source` is still waiting for its next value. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  if (signal === undefined) return yield* source;
  const iterator = source[Symbol.asyncIterator]();
  let isWaiting = false;
  try {
    while (!signal.aborted) {
      isWaiting = true;
      const next = await orAborted(iterator.next(), signal);
      if (next === ABORTED) return;
      isWaiting = false;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // return() of a generator that is waiting would block until its source delivers.
    if (!isWaiting) await iterator.return?.();
  }
}

/** Not Promise.race: with a long-lived signal each race would keep its result in memory. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
  const { promise, resolve, reject } = Promise.withResolvers<T | typeof ABORTED>();
  const onAbort = () => resolve(ABORTED);
  signal.addEventListener('abort', onAbort, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  return promise;
}
