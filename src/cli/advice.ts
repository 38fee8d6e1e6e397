import { AppError, isTransient } from '../core/errors.ts';

const ADVICE = 'The import can be repeated: run the same command again.';

/** Adds what to do next to the error of an import that lost its database. */
export function withAdvice(error: unknown): unknown {
  if (!isTransient(error)) return error;
  return new AppError(error.code, `${error.message}. ${ADVICE}`, { cause: error });
}

export function orAdvice<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw withAdvice(error);
  });
}
