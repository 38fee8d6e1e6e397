import type { Database, Session } from './database.ts';

export type Query = Session['query'];

/** A replica that failed is left alone for so long. */
const REST_MS = 5_000;

/**
 * Asks the replicas in turn, and the primary where none is left. What goes wrong on a replica is no answer: it may be
 * away, behind with a migration, or have given a statement up for what it was replaying.
 */
export function createReads(primary: Database, replicas: readonly Database[]): Query {
  if (replicas.length === 0) return primary.query;
  const restsUntil = new Map<Database, number>();
  let turn = 0;

  return async (sql, params, signal) => {
    for (let i = 0; i < replicas.length; i++) {
      const replica = replicas[turn++ % replicas.length] as Database;
      if (Date.now() < (restsUntil.get(replica) ?? 0)) continue;
      try {
        return await replica.query(sql, params, signal);
      } catch {
        signal?.throwIfAborted();
        restsUntil.set(replica, Date.now() + REST_MS);
      }
    }
    return primary.query(sql, params, signal);
  };
}
