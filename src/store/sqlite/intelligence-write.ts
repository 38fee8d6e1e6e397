import { createApply } from './apply.ts';
import { createApplyFiles } from './apply-files.ts';
import type { Database } from './database.ts';
import { createDictionaries } from './dictionaries.ts';
import { createFinishListing } from './finish-listing.ts';
import { createSetNetworks } from './set-networks.ts';
import { createSpreadFamilies } from './spread-families.ts';

/** What is written to the intelligence database, on its writer's thread. */
export function createIntelligenceWrites(db: Database) {
  const dictionaries = createDictionaries(db);
  const spreadFamilies = createSpreadFamilies(db);
  return {
    apply: createApply(db, dictionaries, spreadFamilies),
    applyFiles: createApplyFiles(db, dictionaries, spreadFamilies),
    finishListing: createFinishListing(db, dictionaries),
    setNetworks: createSetNetworks(db),
  };
}
