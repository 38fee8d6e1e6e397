import type { Every } from '../core/every.ts';
import type { ReplicaState } from '../metrics/database-gauges.ts';
import type { Log } from './outages.ts';

export type Replica = {
  /** As in the metrics of its connections. */
  pool: string;
  /** Throws if it cannot answer lookups. */
  check(): Promise<void>;
};

/** Checks the replicas once a second: no query fails because of them, so nobody would notice. */
export type ReplicaWatch = {
  /** The result of the last check of each. */
  states(): ReplicaState[];
  close(): void;
};

type ReplicaWatchOptions = { replicas: readonly Replica[]; log: Log<'warn'>; every: Every };

const CHECK_INTERVAL_MS = 1_000;

/** Logs once when a replica goes down and once when it is back. */
export function watchReplicas({ replicas, log, every }: ReplicaWatchOptions): ReplicaWatch {
  const states = replicas.map((replica) => ({ ...replica, isUp: true, isChecking: false }));
  let isClosed = false;

  async function checkOnce(state: (typeof states)[number]): Promise<void> {
    if (state.isChecking) return; // one that hangs gets no more statements
    state.isChecking = true;
    const reason = await state.check().then(
      () => null,
      (error: Error) => error.message,
    );
    state.isChecking = false;
    const { pool, isUp: wasUp } = state;
    state.isUp = reason === null;
    if (isClosed || state.isUp === wasUp) return;
    if (state.isUp) log.warn({ pool }, 'a replica is back');
    else log.warn({ pool, reason }, 'a replica is down; its queries go to others or to the primary until it is back');
  }

  const endChecks = every(CHECK_INTERVAL_MS, () => {
    for (const state of states) void checkOnce(state);
  });

  return {
    states: () => states.map(({ pool, isUp }) => ({ pool, isUp })),
    close() {
      isClosed = true;
      endChecks();
    },
  };
}
