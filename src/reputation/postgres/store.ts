import type { Database, Query } from '../../database/postgres/database.ts';
import type { ReputationStore } from '../store.ts';
import { createAddressLists } from './address-lists.ts';
import { createDomainEvidence } from './domain-evidence.ts';
import { createDomains } from './domains.ts';
import { createListings } from './listings.ts';
import { createRebuild } from './rebuild.ts';
import { createSources } from './sources.ts';

/** Reputation on PostgreSQL. `read` may use a replica; everything else uses the primary. */
export function createReputationStore(primary: Database, read: Query): ReputationStore {
  return {
    ...createSources(primary, read),
    ...createListings(primary, read),
    ...createAddressLists(primary, read),
    ...createDomainEvidence(primary, read),
    ...createDomains(primary, read),
    ...createRebuild(primary, read),
  };
}
