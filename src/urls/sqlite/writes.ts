import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import { createApply } from './apply.ts';
import { createApplyFiles, createBackfillFamilies } from './files.ts';
import { createRepairRows } from './integrity.ts';
import { createFinishListing } from './listings.ts';
import { createSetNetworks } from './networks.ts';

export type UrlWrites = ReturnType<typeof createUrlWrites>;

/** The writes, which run on the writer thread of `intelligence.db`. A separate file, so that the thread loads no reads. */
export function createUrlWrites(db: Database, dictionaries: Dictionaries) {
  const backfillFamilies = createBackfillFamilies(db, dictionaries);
  return {
    apply: createApply(db, dictionaries, backfillFamilies),
    applyFiles: createApplyFiles(db, dictionaries, backfillFamilies),
    finishListing: createFinishListing(db, dictionaries),
    setNetworks: createSetNetworks(db, dictionaries),
    repairRows: createRepairRows(db, dictionaries, backfillFamilies),
  };
}
