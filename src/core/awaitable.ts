/** A value, or a promise of it: SQLite answers at once, and a promise would cost as much as half a lookup. */
export type Awaitable<T> = T | Promise<T>;

/** Continues at once if there is nothing to wait for. */
export function then<T, Result>(value: Awaitable<T>, next: (value: T) => Awaitable<Result>): Awaitable<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
