import { createExpiringMap } from '../core/expiring-map.ts';

/**
 * Clients should reuse their token. An account that logs in too often is first delayed, then refused; its tokens stay
 * valid.
 */
export type LoginPenalty = {
  /** How long the account must wait before a login is accepted; 0 when it may try. */
  refusedMs(account: string, nowMs: number): number | Promise<number>;
  /** Counts the login unless it is refused. */
  take(account: string, nowMs: number): LoginDecision | Promise<LoginDecision>;
};

/** How long logins are refused, or by how much this login is delayed. At least one of them is 0. */
type LoginDecision = { refusedMs: number; delayMs: number };

export const WINDOW_MS = 600_000;
const FREE_LOGINS = 10;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 8_000;
/** The thirtieth login within the window is refused. */
export const MAX_LOGINS = 29;
/** At 29 numbers each, at most 30 MB when every account is at its limit. */
const MAX_ACCOUNTS = 100_000;

export function createLoginPenalty() {
  const logins = createExpiringMap<readonly number[]>({ maxEntries: MAX_ACCOUNTS, lifeMs: WINDOW_MS });
  const recent = (account: string, nowMs: number) =>
    (logins.get(account, nowMs) ?? []).filter((timeMs) => nowMs - timeMs < WINDOW_MS);
  const refusedMs = (account: string, nowMs: number): number => {
    const [oldest = 0, ...others] = recent(account, nowMs);
    return others.length + 1 < MAX_LOGINS ? 0 : oldest + WINDOW_MS - nowMs;
  };
  return {
    refusedMs,
    take(account: string, nowMs: number): LoginDecision {
      const waitMs = refusedMs(account, nowMs);
      if (waitMs > 0) return { refusedMs: waitMs, delayMs: 0 };
      const before = recent(account, nowMs);
      logins.set(account, [...before, nowMs], nowMs);
      return { refusedMs: 0, delayMs: delayMs(before.length) };
    },
  } satisfies LoginPenalty;
}

/** Ten logins without delay, then 250 ms, 500 ms, 1 s, 2 s, 4 s, 8 s, 8 s, … */
export function delayMs(loginsBefore: number): number {
  if (loginsBefore < FREE_LOGINS) return 0;
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (loginsBefore - FREE_LOGINS));
}
