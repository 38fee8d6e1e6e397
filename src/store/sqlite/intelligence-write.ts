import { createApply } from './apply.ts';
import { createApplyFiles } from './apply-files.ts';
import type { Database } from './database.ts';
import { createDictionaries } from './dictionaries.ts';
import { createFinishListing } from './finish-listing.ts';
import { createSetNetworks } from './set-networks.ts';
import { createSpreadFamilies } from './spread-families.ts';

/** KiB of pages that the writer keeps: URLs, hosts and addresses come in no order, so that each row meets other pages. */
const CACHE_KIB = 32 * 1024;

/**
 * Pages in the log before it is folded back, 64 MB. A batch changes some thousand of them, and with the 1,000 of SQLite's
 * own default each commit would fold back, and wait for the disk: with it, and without the cache above, one import of
 * 200,000 rows took 24 s instead of 19.
 */
const CHECKPOINT_PAGES = 16_000;

/** What is written to the intelligence database, on its writer's thread. */
export function createIntelligenceWrites(db: Database) {
  db.exec(`pragma cache_size = -${CACHE_KIB}; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const dictionaries = createDictionaries(db);
  const spreadFamilies = createSpreadFamilies(db);
  return {
    apply: createApply(db, dictionaries, spreadFamilies),
    applyFiles: createApplyFiles(db, dictionaries, spreadFamilies),
    finishListing: createFinishListing(db, dictionaries),
    setNetworks: createSetNetworks(db),
  };
}
