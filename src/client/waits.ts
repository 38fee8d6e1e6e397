/** A timer that is set to more runs at once: its milliseconds are a signed number of 32 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Rejects as soon as the signal is aborted, whatever the promise does. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const leave = () => {
      clearTimer();
      reject(signal?.reason);
    };
    const clearTimer = startTimer(ms, () => {
      signal?.removeEventListener('abort', leave);
      resolve();
    });
    signal?.addEventListener('abort', leave, { once: true });
  });
}

/** Any number of milliseconds, also Infinity. Returns what stops the timer. */
export function startTimer(ms: number, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const start = (leftMs: number) => {
    const rest = leftMs - LONGEST_TIMER_MS;
    timer = setTimeout(() => (rest > 0 ? start(rest) : run()), Math.min(leftMs, LONGEST_TIMER_MS));
  };
  start(ms);
  return () => clearTimeout(timer);
}
