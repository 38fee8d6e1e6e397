import type { Database } from '../../database/sqlite/database.ts';
import { createApply } from './apply.ts';
import { createDictionaries } from './dictionaries.ts';
import { createApplyFiles, createSpreadFamilies } from './files.ts';
import { createFinishListing } from './listings.ts';
import { createSetNetworks } from './networks.ts';

export type UrlWrites = ReturnType<typeof createUrlWrites>;

/** The writes, which run on the writer thread of `intelligence.db`. In a file of their own: that thread loads no reads. */
export function createUrlWrites(db: Database) {
  const dictionaries = createDictionaries(db);
  const spreadFamilies = createSpreadFamilies(db);
  return {
    apply: createApply(db, dictionaries, spreadFamilies),
    applyFiles: createApplyFiles(db, dictionaries, spreadFamilies),
    finishListing: createFinishListing(db, dictionaries),
    setNetworks: createSetNetworks(db),
  };
}
