import type { Every } from './feed-turn.ts';

/** By the clock of this machine; does not keep the process from ending. */
export const everyMs: Every = (ms, work) => {
  const timer = setInterval(work, ms).unref();
  return () => clearInterval(timer);
};
