import type { Database, Query } from '../../database/postgres/database.ts';
import type { ReputationStore } from '../store.ts';
import { createAddressLists } from './address-lists.ts';
import { createCounts } from './counts.ts';
import { createExportDomains } from './domain-export.ts';
import { createReadDomains } from './domain-reads.ts';
import { createDomainState } from './domain-state.ts';
import { createWriteDomains } from './domain-writes.ts';
import { createReadsForLists } from './list-reads.ts';
import { createListings } from './listings.ts';
import { createNamesAt } from './names-at.ts';
import { createRebuild } from './rebuild.ts';
import { createSources } from './sources.ts';

/** Reputation on PostgreSQL. `read` may use a replica; everything else uses the primary. */
export function createReputationStore(primary: Database, read: Query): ReputationStore {
  return {
    ...createSources(primary),
    ...createListings(primary, read),
    ...createAddressLists(primary),
    ...createWriteDomains(primary),
    domainState: createDomainState(read),
    ...createReadDomains(read),
    namesAt: createNamesAt(read),
    ...createReadsForLists(read),
    ...createCounts(read),
    exportDomains: createExportDomains(primary.query),
    ...createRebuild(primary),
  };
}
