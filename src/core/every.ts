/** Calls `work` periodically and returns a function that stops it. */
export type Every = (ms: number, work: () => void) => () => void;

/** A timer that does not keep the process alive. */
export const everyMs: Every = (ms, work) => {
  const timer = setInterval(work, ms).unref();
  return () => clearInterval(timer);
};
