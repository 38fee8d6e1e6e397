import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import { createAddressListWrites } from './address-lists.ts';
import { createDomainWrites } from './domain-writes.ts';
import { createApplyListings } from './episodes.ts';
import { createRebuildHosts } from './rebuild.ts';
import { createPutSources } from './sources.ts';

export type ReputationWrites = ReturnType<typeof createReputationWrites>;

/** The writes, which run on the writer thread of `intelligence.db`. A separate file, so that the thread loads no reads. */
export function createReputationWrites(db: Database, dictionaries: Dictionaries) {
  return {
    putSources: createPutSources(db, dictionaries),
    applyListings: createApplyListings(db, dictionaries),
    ...createAddressListWrites(db, dictionaries),
    ...createDomainWrites(db, dictionaries),
    rebuildHosts: createRebuildHosts(db, dictionaries),
  };
}
