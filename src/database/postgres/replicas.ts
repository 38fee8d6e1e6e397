import type { Database, Query } from './database.ts';

/** A replica that failed is not used for this long. */
const PAUSE_MS = 5_000;

/**
 * Queries the replicas round-robin, and the primary if none succeeds. An error of a replica is never returned: it may be
 * down, not yet migrated, or have cancelled the statement because of a conflict with replication.
 */
export function createReads(primary: Database, replicas: readonly Database[]): Query {
  if (replicas.length === 0) return primary.query;
  const pausedUntilMs = new Map<Database, number>();
  let next = 0;

  return async (sql, params, signal) => {
    for (let i = 0; i < replicas.length; i++) {
      const replica = replicas[next++ % replicas.length] as Database;
      if (Date.now() < (pausedUntilMs.get(replica) ?? 0)) continue;
      try {
        return await replica.query(sql, params, signal);
      } catch {
        signal?.throwIfAborted();
        pausedUntilMs.set(replica, Date.now() + PAUSE_MS);
      }
    }
    return primary.query(sql, params, signal);
  };
}
