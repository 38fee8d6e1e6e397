import type { Observation } from '../../core/observation.ts';
import type { ApplyReport, Listing } from '../store.ts';
import { groupByUrl, type UrlGroup } from '../url-group.ts';
import { createApplyAddress } from './apply-address.ts';
import { createApplyPayload } from './apply-payload.ts';
import { createApplyStatus } from './apply-status.ts';
import type { Database } from './database.ts';
import type { Dictionaries } from './dictionaries.ts';
import { createListed } from './listed.ts';

const FIND_URL = 'select id, host_id from urls where url_key = ?';

const ADD_URL = 'insert into urls (url_key, url, host_id) values (?, ?, ?) returning id, host_id';

/** Applies batches of observations, each in one transaction. */
export function createApply(db: Database, dictionaries: Dictionaries, spreadFamilies: () => void) {
  const { hosts, reporters, families, transaction } = dictionaries;
  const applyStatus = createApplyStatus(db, dictionaries);
  const applyPayload = createApplyPayload(db, families);
  const { applyAddress, applyHostAddress } = createApplyAddress(db);
  const listed = createListed(db);
  const findUrl = db.prepare<[id: number, hostId: number]>(FIND_URL);
  const addUrl = db.prepare<[id: number, hostId: number]>(ADD_URL);

  function applyUrl(
    { key, url, host, statuses, payloads, addresses }: UrlGroup,
    listing: Listing | undefined,
    report: ApplyReport,
  ): void {
    let row = findUrl.get(key);
    if (row === undefined) {
      row = addUrl.get(key, url, hosts.idOf(host)) as [number, number];
      report.urlsAdded++;
    }
    const [urlId, hostId] = row;
    const change = listing === undefined ? null : listed.name(urlId, reporters.idOf(listing.feed), listing);
    report.eventsChanged += applyStatus(urlId, hostId, statuses, change);
    for (const payload of payloads) report.payloadsAdded += applyPayload(urlId, payload);
    for (const { ts, ip, asn } of addresses) report.resolutionsChanged += applyAddress(urlId, ts, { ip, asn });
    if (change?.after) report.resolutionsChanged += applyHostAddress(urlId, change.after.ts, url);
  }

  return (observations: readonly Observation[], listing?: Listing): ApplyReport => {
    const report: ApplyReport = { urlsAdded: 0, eventsChanged: 0, payloadsAdded: 0, resolutionsChanged: 0 };
    transaction(() => {
      for (const group of groupByUrl(observations)) applyUrl(group, listing, report);
    });
    spreadFamilies();
    return report;
  };
}
