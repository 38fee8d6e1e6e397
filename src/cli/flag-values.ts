import { AppError } from '../core/errors.ts';
import { UsageError } from './command.ts';

/** The value of a flag or operand that must be one of these words. One that was not given is undefined. */
export function readWord<const Word extends string>(name: string, text: string, words: readonly Word[]): Word;
export function readWord<const Word extends string>(
  name: string,
  text: string | undefined,
  words: readonly Word[],
): Word | undefined;
export function readWord<Word extends string>(name: string, text: string | undefined, words: readonly Word[]) {
  const word = words.find((candidate) => candidate === text);
  if (text === undefined || word !== undefined) return word;
  throw new UsageError(`${name} must be one of ${words.join(', ')}, not ${JSON.stringify(text)}`);
}

/** A refusal of what was given is a mistake in the command line. */
export function asUsage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return toUsage(error);
  }
}

export function toUsage(error: unknown): never {
  if (error instanceof AppError && error.code === 'bad_request') throw new UsageError(error.message);
  throw error;
}
