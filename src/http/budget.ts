import { AppError } from '../core/errors.ts';

/**
 * Waits for the work, but rejects with the reason of the signal if it is aborted first. The listener is removed when
 * the work ends, so that one signal can be used many times.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/**
 * Waits for the work, but rejects with `timed_out` if it takes longer than the budget, and then aborts `stop`. Every lookup
 * calls this, so it creates one promise only, and no timer for a result that is already known.
 */
export function withinBudget<T>(work: T | Promise<T>, budgetMs: number, stop?: AbortController): T | Promise<T> {
  if (!(work instanceof Promise)) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const reason = queryTimedOut();
      stop?.abort(reason);
      reject(reason);
    }, budgetMs);
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

export function queryTimedOut(): AppError {
  return new AppError('timed_out', 'The query took too long; narrow it, for example with a shorter time window');
}
