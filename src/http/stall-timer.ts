/** Watches another side that must read or send something now and then. */
type StallTimer = {
  /** It did: the time begins again. */
  refresh(): void;
  stop(): void;
};

/**
 * Calls `onStall` after a time without `refresh`. Then the event loop has looked once more for what arrived meanwhile: when
 * this process was paused, its timers end before it reads.
 */
export function createStallTimer(stallMs: number, onStall: () => void): StallTimer {
  let check: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    check = setImmediate(onStall);
  }, stallMs);
  return {
    refresh() {
      clearImmediate(check);
      timer.refresh();
    },
    stop() {
      clearImmediate(check);
      clearTimeout(timer);
    },
  };
}
