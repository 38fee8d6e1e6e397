import type { Database, Query } from '../../database/postgres/database.ts';
import type { UrlStore } from '../store.ts';
import { createApply } from './apply.ts';
import { createUrlDetails } from './details.ts';
import { createExportObservations, createExportUrls, createFamilyNames } from './export.ts';
import { createApplyFiles, createBackfillFamilies } from './files.ts';
import { createCheckRows, createRepairRows } from './integrity.ts';
import { createListUrls } from './list-urls.ts';
import { createFinishListing, createListingEffect } from './listings.ts';
import { createLookup } from './lookup.ts';
import { createNetworklessAddresses, createSetNetworks } from './networks.ts';
import { createSearch } from './search.ts';
import { createStreams } from './streams.ts';
import { createSummaries } from './summaries.ts';

/** URLs on PostgreSQL. `read` may use a replica; everything else uses the primary. */
export function createUrlStore(primary: Database, read: Query): UrlStore {
  const backfillFamilies = createBackfillFamilies(primary);
  const exportUrls = createExportUrls(primary.query);
  return {
    apply: createApply(primary, backfillFamilies),
    applyFiles: createApplyFiles(primary, backfillFamilies),
    listingEffect: createListingEffect(primary.query),
    finishListing: createFinishListing(primary),
    exportObservations: createExportObservations(primary.query, exportUrls),
    exportUrls,
    urlsForList: createListUrls(read),
    familyNames: createFamilyNames(primary.query),
    networklessAddresses: createNetworklessAddresses(primary.query),
    setNetworks: createSetNetworks(primary),
    ...createCheckRows(primary),
    repairRows: createRepairRows(primary, backfillFamilies),
    ...createLookup(read),
    urlDetails: createUrlDetails(read),
    ...createSummaries(read),
    ...createStreams(read),
    search: createSearch(read),
  };
}
