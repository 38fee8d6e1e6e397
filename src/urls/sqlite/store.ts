import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { UrlStore } from '../store.ts';
import { createApplyTogether } from './apply-together.ts';
import { createUrlDetails } from './details.ts';
import { createExportObservations, createExportUrls, createFamilyNames } from './export.ts';
import { createCheckRows } from './integrity.ts';
import { createKnownUrls } from './known-urls.ts';
import { createListUrls } from './list-urls.ts';
import { createListingEffect } from './listings.ts';
import { createLookup } from './lookup.ts';
import { createNetworklessAddresses } from './networks.ts';
import { createSearch } from './search.ts';
import { createStreams } from './streams.ts';
import { createSummaries } from './summaries.ts';
import type { UrlWrites } from './writes.ts';

/**
 * URLs in `intelligence.db`: reads on the calling thread, writes on the writer thread. `knownUrls` is shared by the threads
 * of a server; commands have none, because building it takes a second for a million URLs.
 */
export function createUrlStore({ db, write }: DatabaseFile<UrlWrites>, knownUrls?: SharedArrayBuffer): UrlStore {
  const exportUrls = createExportUrls(db);
  return {
    ...createApplyTogether((batches) => write('apply', batches)),
    applyFiles: (files) => write('applyFiles', files),
    listingEffect: createListingEffect(db),
    finishListing: (listing) => write('finishListing', listing),
    exportObservations: createExportObservations(db, exportUrls),
    exportUrls,
    urlsForList: createListUrls(db),
    familyNames: createFamilyNames(db),
    networklessAddresses: createNetworklessAddresses(db),
    setNetworks: (networks) => write('setNetworks', networks),
    ...createCheckRows(db),
    repairRows: (table, after) => write('repairRows', table, after),
    ...createLookup(db, knownUrls === undefined ? null : createKnownUrls(db, knownUrls)),
    urlDetails: createUrlDetails(db),
    ...createSummaries(db),
    ...createStreams(db),
    search: createSearch(db),
  };
}
