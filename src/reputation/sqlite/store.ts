import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { ReputationStore } from '../store.ts';
import { createAddressLists } from './address-lists.ts';
import { createDomainEvidence } from './domain-evidence.ts';
import { createDomains } from './domains.ts';
import { createListings } from './listings.ts';
import { createRebuild } from './rebuild.ts';
import { createSources } from './sources.ts';
import type { ReputationWrites } from './writes.ts';

/** Reputation in `intelligence.db`: reads on the calling thread, writes on the writer thread. */
export function createReputationStore(file: DatabaseFile<ReputationWrites>): ReputationStore {
  return {
    ...createSources(file),
    ...createListings(file),
    ...createAddressLists(file),
    ...createDomainEvidence(file),
    ...createDomains(file),
    ...createRebuild(file),
  };
}
