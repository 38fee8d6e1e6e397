import type { Observation } from '../../core/observation.ts';
import { byTime, type StatusObservation } from '../../core/timeline.ts';
import type { ApplyReport, Listing } from '../store.ts';
import { urlKey } from '../url-key.ts';
import { createApplyAddress } from './apply-address.ts';
import { createApplyPayload } from './apply-payload.ts';
import { createApplyStatus } from './apply-status.ts';
import type { Database } from './database.ts';
import type { Dictionaries } from './dictionaries.ts';
import { createListed } from './listed.ts';

type UrlGroup = { key: Uint8Array; url: string; host: string; observations: Observation[] };

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
    { key, url, host, observations }: UrlGroup,
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
    report.eventsChanged += applyStatus(urlId, hostId, statusesInOrder(observations), change);
    for (const { ts, addresses, payload } of observations) {
      if (payload !== null) report.payloadsAdded += applyPayload(urlId, payload);
      for (const address of addresses) report.resolutionsChanged += applyAddress(urlId, ts, address);
    }
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

/** In order of key: neighbours in the index are written together. */
function groupByUrl(observations: readonly Observation[]): UrlGroup[] {
  const groups = new Map<string, UrlGroup>();
  for (const observation of observations) {
    const { url, host } = observation;
    const group = groups.get(url);
    if (group !== undefined) group.observations.push(observation);
    else groups.set(url, { key: urlKey(url), url, host, observations: [observation] });
  }
  return [...groups.values()].sort((a, b) => Buffer.compare(a.key, b.key));
}

function statusesInOrder(observations: readonly Observation[]): StatusObservation[] {
  return observations.filter((one): one is Observation & StatusObservation => one.status !== null).sort(byTime);
}
