/** One Ctrl-C can arrive twice, from the terminal and from npm. A signal later than this is another one. */
const REPEATED_SIGNAL_MS = 1_000;

type StopSignal = {
  /** Aborted by the first signal. */
  announced: AbortSignal;
  /** Aborted when the work must end: together with `announced`, or after SIGTERM when the grace time is over. */
  signal: AbortSignal;
  dispose(): void;
};

/**
 * Ctrl-C aborts the signal, so that running work can finish. A second Ctrl-C exits immediately. With `graceMs`, SIGTERM
 * aborts the signal only after that time. Ctrl-C or a second SIGTERM ends the time, and the next one exits.
 */
export function stopSignal(graceMs = 0): StopSignal {
  const announced = new AbortController();
  const end = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let sinceMs = 0;
  const endNow = () => {
    clearTimeout(timer);
    sinceMs = Date.now();
    end.abort();
  };
  const stop = (name: NodeJS.Signals) => {
    const isRepeated = Date.now() - sinceMs <= REPEATED_SIGNAL_MS;
    if (end.signal.aborted) {
      if (!isRepeated) process.exit(1);
    } else if (announced.signal.aborted) {
      if (!isRepeated || name === 'SIGINT') endNow();
    } else {
      sinceMs = Date.now();
      announced.abort();
      if (name === 'SIGINT' || graceMs === 0) endNow();
      else timer = setTimeout(endNow, graceMs).unref();
    }
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return {
    announced: announced.signal,
    signal: end.signal,
    dispose() {
      clearTimeout(timer);
      process.off('SIGINT', stop).off('SIGTERM', stop);
    },
  };
}
