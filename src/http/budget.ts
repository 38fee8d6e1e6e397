import { AppError } from '../core/errors.ts';

/** The work, or the reason of the signal when that comes first. Listeners go with the work, so many may follow. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/**
 * The work, or a refusal when it takes longer than the budget. On the way of every look-up: no promise too many, and no
 * timer for what is there at once.
 */
export function withinBudget<T>(work: T | Promise<T>, budgetMs: number): T | Promise<T> {
  if (!(work instanceof Promise)) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(budgetSpent()), budgetMs);
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

export function budgetSpent(): AppError {
  return new AppError('timed_out', 'The query took too long; ask for less, for example a shorter time window');
}
