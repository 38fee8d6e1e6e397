import type { Reader } from '../../database/sqlite/database.ts';
import type { DomainState, ReputationStore } from '../store.ts';
import { createReadState } from './domain-state.ts';

/** Kept until the database changes: gateways ask for the same domains again and again. A full cache is cleared. */
const MAX_CACHED_STATES = 1_000;
/** States with more rows are not kept, so that the cache stays below 30 MB. Most have fewer than a hundred. */
const MAX_CACHED_ROWS = 256;

export function createDomainState(db: Reader): ReputationStore['domainState'] {
  const read = createReadState(db);
  const cache = new Map<string, DomainState>();
  let readVersion: number | undefined;
  return (name) => {
    const version = db.version();
    if (version !== readVersion) cache.clear();
    readVersion = version;
    const cached = cache.get(name);
    if (cached !== undefined) return cached;
    const state = read(name);
    if (state === null || rowsOf(state) > MAX_CACHED_ROWS) return state;
    if (cache.size >= MAX_CACHED_STATES) cache.clear();
    cache.set(name, state);
    return state;
  };
}

function rowsOf({ urls, evidence, lists, addresses, servers, senders }: DomainState): number {
  const ips = servers.reduce((sum, server) => sum + server.ips.length, 0);
  return urls.length + evidence.length + lists.length + addresses.length + servers.length + ips + senders.length;
}
