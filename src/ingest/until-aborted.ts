const ABORTED = Symbol('aborted');

/** What `source` gives, until the signal stops it, also in the middle of waiting for a source that is silent. */
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
    // A generator that waits for its source takes no orders before that answers.
    if (!isWaiting) await iterator.return?.();
  }
}

/** Not Promise.race: with a signal that outlives it, each race would keep its result for as long. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
  const { promise, resolve, reject } = Promise.withResolvers<T | typeof ABORTED>();
  const onAbort = () => resolve(ABORTED);
  signal.addEventListener('abort', onAbort, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  return promise;
}
