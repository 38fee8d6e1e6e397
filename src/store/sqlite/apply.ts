import type { ApplyReport, Listing } from '../store.ts';
import { toBytes, type UrlGroup } from '../url-group.ts';
import { createAddUrl } from './add-url.ts';
import { createApplyAddress } from './apply-address.ts';
import { createApplyPayload } from './apply-payload.ts';
import { createApplyStatus } from './apply-status.ts';
import type { Database } from './database.ts';
import type { Dictionaries } from './dictionaries.ts';
import { createListed } from './listed.ts';

const FIND_URL = 'select id, host_id from urls where url_key = ?';

/** Applies batches of observations, each in one transaction. */
export function createApply(db: Database, dictionaries: Dictionaries, spreadFamilies: () => void) {
  const { reporters, families, transaction } = dictionaries;
  const addUrl = createAddUrl(db, dictionaries);
  const applyStatus = createApplyStatus(db, dictionaries);
  const applyPayload = createApplyPayload(db, families);
  const { applyAddress, applyHostAddress } = createApplyAddress(db);
  const listed = createListed(db);
  const findUrl = db.prepare<[id: number, hostId: number]>(FIND_URL);

  function applyUrl(group: UrlGroup, listing: Listing | undefined, report: ApplyReport): void {
    const { url, payloads, addresses } = group;
    const key = toBytes(group.key);
    let { statuses } = group;
    let row = findUrl.get(key);
    if (row === undefined) {
      const added = addUrl(key, group);
      report.urlsAdded++;
      report.eventsChanged += added.events;
      row = [added.id, added.hostId];
      statuses = [];
    }
    const [urlId, hostId] = row;
    const change = listing === undefined ? null : listed.name(urlId, reporters.idOf(listing.feed), listing);
    report.eventsChanged += applyStatus(urlId, hostId, statuses, change);
    for (const payload of payloads) report.payloadsAdded += applyPayload(urlId, payload);
    for (const [ts, ip, asn] of addresses) report.resolutionsChanged += applyAddress(urlId, ts, toBytes(ip), asn);
    if (change?.after) report.resolutionsChanged += applyHostAddress(urlId, change.after.ts, url);
  }

  return (groups: readonly UrlGroup[], listing?: Listing): ApplyReport => {
    const report: ApplyReport = { urlsAdded: 0, eventsChanged: 0, payloadsAdded: 0, resolutionsChanged: 0 };
    transaction(() => {
      for (const group of groups) applyUrl(group, listing, report);
    });
    spreadFamilies();
    return report;
  };
}
