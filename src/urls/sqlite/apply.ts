import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import type { ApplyReport, Listing } from '../store.ts';
import { advance, isEvent } from '../timeline.ts';
import { toBytes, type UrlGroup } from '../url-group.ts';
import { createApplyStatus, createPutEntry, lastColumns } from './events.ts';
import { createListed } from './listings.ts';
import { createApplyPayloads } from './payloads.ts';
import { createApplyAddress } from './resolutions.ts';

const FIND_URL = 'select id, host_id from urls where url_key = ?';

/** Applies batches of observations, each in one transaction. */
export function createApply(db: Database, dictionaries: Dictionaries, backfillFamilies: () => void) {
  const { reporters, families, transaction } = dictionaries;
  const addUrl = createAddUrl(db, dictionaries);
  const applyStatus = createApplyStatus(db, dictionaries);
  const applyPayloads = createApplyPayloads(db, families);
  const { applyAddress, applyHostAddress } = createApplyAddress(db);
  const listed = createListed(db);
  const findUrl = db.prepare<[id: number, hostId: number]>(FIND_URL);

  function applyUrl(group: UrlGroup, listing: Listing | undefined, report: ApplyReport): void {
    const { url, payloads, addresses } = group;
    const key = toBytes(group.key);
    let { statuses } = group;
    let row = findUrl.get(key);
    const isNewUrl = row === undefined;
    if (row === undefined) {
      const added = addUrl(key, group);
      report.urlsAdded++;
      report.eventsChanged += added.events;
      row = [added.id, added.hostId];
      statuses = [];
    }
    const [urlId, hostId] = row;
    const change = listing === undefined ? null : listed.markListed(urlId, reporters.idOf(listing.feed), listing);
    report.eventsChanged += applyStatus(urlId, hostId, statuses, change);
    report.payloadsAdded += applyPayloads(urlId, payloads, isNewUrl);
    for (const [ts, ip, asn] of addresses) {
      report.resolutionsChanged += applyAddress(urlId, ts, toBytes(ip), asn, isNewUrl);
    }
    if (change?.after) report.resolutionsChanged += applyHostAddress(urlId, change.after.ts, url);
  }

  return (groups: readonly UrlGroup[], listing?: Listing): ApplyReport => {
    const report: ApplyReport = { urlsAdded: 0, eventsChanged: 0, payloadsAdded: 0, resolutionsChanged: 0 };
    transaction(() => {
      for (const group of groups) applyUrl(group, listing, report);
    });
    backfillFamilies();
    return report;
  };
}

const ADD_URL = `
  insert into urls (url_key, url, host_id, event_ts, event_kind, event_removal_id, event_reporter_id)
  values (?, ?, ?, ?, ?, ?, ?)`;

/**
 * Adds a URL with its timeline. No stored timeline is read, and the row is inserted with the last status: two statements
 * fewer than for a known URL.
 */
function createAddUrl(db: Database, dictionaries: Dictionaries) {
  const add = db.prepare(ADD_URL);
  const putEntry = createPutEntry(db, dictionaries);

  return (key: Uint8Array, { url, host, statuses }: UrlGroup) => {
    const timeline = advance([], statuses);
    const events = timeline.filter(isEvent);
    const hostId = dictionaries.hosts.idOf(host);
    const id = add.insert(key, url, hostId, ...lastColumns(events.at(-1), dictionaries));
    for (const entry of timeline) putEntry(id, hostId, entry);
    return { id, hostId, events: events.length };
  };
}
