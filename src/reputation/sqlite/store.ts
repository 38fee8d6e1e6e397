import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { ReputationStore } from '../store.ts';
import { createAddressLists } from './address-lists.ts';
import { createCounts } from './counts.ts';
import { createDomainState } from './domain-cache.ts';
import { createExportDomains } from './domain-export.ts';
import { createReadDomains } from './domain-reads.ts';
import { createWriteDomains } from './domain-writes.ts';
import { createReadsForLists } from './list-reads.ts';
import { createListings } from './listings.ts';
import { createNamesAt } from './names-at.ts';
import { createRebuild } from './rebuild.ts';
import { createSources } from './sources.ts';
import type { ReputationWrites } from './writes.ts';

/** Reputation in `intelligence.db`: reads on the calling thread, writes on the writer thread. */
export function createReputationStore(file: DatabaseFile<ReputationWrites>): ReputationStore {
  return {
    ...createSources(file),
    ...createListings(file),
    ...createAddressLists(file),
    ...createWriteDomains(file),
    domainState: createDomainState(file.db),
    ...createReadDomains(file.db),
    namesAt: createNamesAt(file.db),
    ...createReadsForLists(file.db),
    ...createCounts(file.db),
    exportDomains: createExportDomains(file.db),
    ...createRebuild(file),
  };
}
