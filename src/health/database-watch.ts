import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import type { Every } from '../core/every.ts';
import type { Outages } from './outages.ts';

/** Checks the database once a second, so that its state is known even while it does not answer. */
export type DatabaseWatch = {
  /** Throws `not_ready` if the database cannot serve requests. Waits 300 ms at most. */
  ready(): Promise<void>;
  /** The result of the last check, without a wait. */
  isUp(): boolean;
  close(): void;
};

type DatabaseWatchOptions = {
  /** Throws if the database cannot serve requests. */
  check(): Promise<unknown>;
  outages: Outages;
  nowMs(): number;
  /** Calls `work` regularly until the returned function is called. */
  every: Every;
};

const CHECK_INTERVAL_MS = 1_000;

/**
 * How long `ready` waits for a check in progress. Load balancers and Kubernetes often wait one second for `/readyz`, which
 * may also wait for the feeds (`last-known.ts`).
 */
const READY_WAIT_MS = 300;

/**
 * While a check takes longer, the result of the one before is used for this long. A check waits for a connection like
 * any statement, and a node with many requests is not down.
 */
const MAX_RESULT_AGE_MS = 3_000;

/** The database answers, but cannot do all that is needed. */
const isNotReady = (error: unknown): boolean => error instanceof AppError && error.code === 'not_ready';

const noResponse = () => new AppError('unavailable', `No response to a check for ${MAX_RESULT_AGE_MS / 1000} s`);

export function watchDatabase({ check, outages, nowMs, every }: DatabaseWatchOptions): DatabaseWatch {
  /** The last check that ended. Null: it succeeded. */
  let result: { error: unknown; endedMs: number } = { error: null, endedMs: nowMs() };
  let checking: Promise<void> | null = null;

  /** Concurrent calls share one check: a database that hangs gets no more statements. */
  function checkOnce(): Promise<void> {
    checking ??= runCheck().finally(() => {
      checking = null;
    });
    return checking;
  }

  async function runCheck(): Promise<void> {
    const error = await check().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    result = { error, endedMs: nowMs() };
    if (error !== null) outages.report(error);
  }

  const isOld = (): boolean => nowMs() - result.endedMs > MAX_RESULT_AGE_MS;

  const endChecks = every(CHECK_INTERVAL_MS, () => {
    if (checking !== null && isOld()) outages.report(noResponse());
    void checkOnce();
    outages.update();
  });

  return {
    async ready() {
      await Promise.race([checkOnce(), wait(READY_WAIT_MS, undefined, { ref: false })]);
      if (outages.isDamaged()) throw new AppError('not_ready', 'The database is damaged');
      if (isNotReady(result.error)) throw result.error;
      if (result.error !== null || isOld()) throw new AppError('not_ready', 'The database does not answer');
    },
    isUp: () => (result.error === null || isNotReady(result.error)) && !isOld(),
    close: endChecks,
  };
}
