import { useEffect } from 'preact/hooks';

/** While something is going on, and otherwise so that times and states on an open page stay true. */
export const POLL_BUSY_MS = 2_000;
export const POLL_IDLE_MS = 30_000;

/** Asks again some time after each response; not while the page is in the background. Null: not at all. */
export function usePoll(response: unknown, reload: () => void, waitMs: number | null): void {
  useEffect(() => {
    if (response === null || waitMs === null) return;
    const timer = setInterval(() => document.hidden || reload(), waitMs);
    return () => clearInterval(timer);
  }, [response, waitMs]);
}
