import { AppError } from '../core/errors.ts';

type Level = 'error' | 'warn' | 'info' | 'debug';

/** The part of a logger that is used. */
export type Log<Used extends Level = Level> = Record<Used, (details: object, message: string) => void>;

/**
 * Logs an outage of the database, or of another service, instead of each request that fails: 700 failed requests in three
 * seconds are one line.
 *
 *     the first failure        → one line
 *     while failures continue  → one line a minute, with their number
 *     no failure for 5 s       → one line that it is over
 */
export type Outages = {
  /** Returns true if the error belongs to an outage, which is logged here and must not be logged again. */
  report(error: unknown): boolean;
  /** Whether a part of the database was found to be damaged since the start. */
  isDamaged(): boolean;
  /** To be called regularly: logs that an outage continues or is over. */
  update(): void;
};

/** Between two lines about the same outage. */
const REPEAT_MS = 60_000;

/** An outage is over when nothing has failed for this long. A shorter time could log two lines a second. */
const QUIET_MS = 5_000;

const MESSAGES = {
  unavailable: {
    begin: 'a database or service is unavailable; requests that need it get 503 until it is back',
    repeat: 'the database or service is still unavailable',
    end: 'the database or service is back',
  },
  not_ready: {
    begin: 'the server is not ready',
    repeat: 'the server is still not ready',
    end: 'the server is ready again',
  },
  damaged: {
    begin: 'the database is damaged; requests that need the damaged part get 503',
    repeat: 'requests still meet the damaged part of the database',
    end: 'no request meets the damaged part of the database now; it is still damaged',
  },
};

type Kind = keyof typeof MESSAGES;
type Outage = { startedMs: number; failedMs: number; loggedMs: number; failures: number };

export function createOutages(log: Log<'error' | 'warn'>, nowMs: () => number): Outages {
  const current = new Map<Kind, Outage>();
  let isDamaged = false;

  function begin(kind: Kind, reason: string): Outage {
    const now = nowMs();
    log.error({ reason }, MESSAGES[kind].begin);
    return { startedMs: now, failedMs: now, loggedMs: now, failures: 0 };
  }

  return {
    report(error) {
      const kind = kindOf(error);
      if (kind === null) return false;
      const outage = current.get(kind) ?? begin(kind, (error as AppError).message);
      current.set(kind, outage);
      outage.failures++;
      outage.failedMs = nowMs();
      isDamaged ||= kind === 'damaged';
      return true;
    },

    isDamaged: () => isDamaged,

    update() {
      const now = nowMs();
      for (const [kind, outage] of current) {
        const { startedMs, failedMs, loggedMs, failures } = outage;
        const details = { failures, seconds: Math.round((failedMs - startedMs) / 1000) };
        if (now - failedMs >= QUIET_MS) {
          current.delete(kind);
          log.warn(details, MESSAGES[kind].end);
        } else if (now - loggedMs >= REPEAT_MS) {
          outage.loggedMs = now;
          log.error(details, MESSAGES[kind].repeat);
        }
      }
    },
  };
}

/** Whether the error belongs to an outage. */
export function isOutage(error: unknown): error is AppError {
  return kindOf(error) !== null;
}

function kindOf(error: unknown): Kind | null {
  return error instanceof AppError && error.code in MESSAGES ? (error.code as Kind) : null;
}
