import type { Control } from '../control.ts';
import type { Store } from '../store.ts';
import { groupByUrl } from '../url-group.ts';
import { createControlReads } from './control-read.ts';
import { createExportObservations } from './export-observations.ts';
import { createExportUrls } from './export-urls.ts';
import { openPart } from './open-part.ts';
import { createReadHistory } from './read-history.ts';
import { createListingEffect } from './read-listings.ts';
import { createNetworklessAddresses } from './read-networkless.ts';
import { createReadStreams } from './read-streams.ts';
import { createReadUrl } from './read-url.ts';
import { createSearch } from './search.ts';

/** The embedded intelligence store. */
export function openSqliteStore(path: string): Store {
  const { db, write, checkFile, close } = openPart('intelligence', path);
  const exportUrls = createExportUrls(db);
  const check = db.prepare<[number]>('select count(*) from migrations');
  return {
    apply: (observations, listing) => write('apply', groupByUrl(observations), listing),
    applyFiles: (files) => write('applyFiles', files),
    listingEffect: createListingEffect(db),
    finishListing: (listing) => write('finishListing', listing),
    exportObservations: createExportObservations(db, exportUrls),
    exportUrls,
    networklessAddresses: createNetworklessAddresses(db),
    setNetworks: (networks) => write('setNetworks', networks),
    ...createReadUrl(db),
    ...createReadHistory(db),
    ...createReadStreams(db),
    search: createSearch(db),

    async ready() {
      check.get();
      checkFile();
    },
    close,
  };
}

/** The embedded control store. */
export function openSqliteControl(path: string): Control {
  const { db, write, checkFile, close } = openPart('control', path);
  const reads = createControlReads(db);
  return {
    ...reads,
    async version() {
      checkFile();
      return reads.version();
    },
    addAccount: (account) => write('addAccount', account),
    changeAccount: (sub, change) => write('changeAccount', sub, change),
    removeAccount: (sub) => write('removeAccount', sub),
    putTier: (tier) => write('putTier', tier),
    removeTier: (name) => write('removeTier', name),
    addKey: (key, keepSince) => write('addKey', key, keepSince),
    ensureKey: (key) => write('ensureKey', key),
    addUsage: (usage) => write('addUsage', usage),
    putFeed: (feed) => write('putFeed', feed),
    changeFeed: (name, change) => write('changeFeed', name, change),
    removeFeed: (name) => write('removeFeed', name),
    leaseFeed: (name, owner, lease) => write('leaseFeed', name, owner, lease),
    releaseFeed: (name, owner) => write('releaseFeed', name, owner),
    importStarted: (start) => write('importStarted', start),
    importFinished: (id, end) => write('importFinished', id, end),
    addRejects: (importId, rejects) => write('addRejects', importId, rejects),
    close,
  };
}
