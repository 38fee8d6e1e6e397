import { foldFamily } from '../../core/family.ts';
import type { Observation, ObservedAddress } from '../../core/observation.ts';
import { byTime, type StatusObservation } from '../../core/timeline.ts';
import { bucketOf, dayOf } from '../resolution-time.ts';
import type { ApplyReport } from '../store.ts';
import { urlKey } from '../url-key.ts';
import { createApplyPayload } from './apply-payload.ts';
import { createApplyStatus } from './apply-status.ts';
import type { Database } from './database.ts';
import { createDictionary } from './dictionary.ts';
import { createSpreadFamilies } from './spread-families.ts';

type UrlGroup = { key: Uint8Array; url: string; host: string; observations: Observation[] };

const FIND_URL = 'select id, host_id from urls where url_key = ?';

const ADD_URL = 'insert into urls (url_key, url, host_id) values (?, ?, ?) returning id, host_id';

// Once per URL, address and day, at the earliest ts; the network told with the earliest one counts.
const PUT_RESOLUTION = `
  insert into resolutions (url_id, ip, day, ts, bucket, asn) values (?, ?, ?, ?, ?, ?)
  on conflict do update set
    ts = min(ts, excluded.ts),
    asn = iif(excluded.ts < ts, coalesce(excluded.asn, asn), coalesce(asn, excluded.asn))
  where excluded.ts < ts or (asn is null and excluded.asn is not null)`;

/** The one writer: applies batches of observations, each in one transaction. Runs on the writer's thread. */
export function createApply(db: Database): (observations: readonly Observation[]) => ApplyReport {
  const hosts = createDictionary(db, 'hosts', 'host');
  const reporters = createDictionary(db, 'reporters', 'name');
  const removals = createDictionary(db, 'removals', 'reason');
  const families = createDictionary(db, 'families', 'name', { folded: foldFamily });
  const applyStatus = createApplyStatus(db, { reporters, removals });
  const applyPayload = createApplyPayload(db, families);
  const spreadFamilies = createSpreadFamilies(db);
  const findUrl = db.prepare<[id: number, hostId: number]>(FIND_URL);
  const addUrl = db.prepare<[id: number, hostId: number]>(ADD_URL);
  const putResolution = db.prepare(PUT_RESOLUTION);

  function applyUrl({ key, url, host, observations }: UrlGroup, report: ApplyReport): void {
    let row = findUrl.get(key);
    if (row === undefined) {
      row = addUrl.get(key, url, hosts.idOf(host)) as [number, number];
      report.urlsAdded++;
    }
    const [urlId, hostId] = row;
    report.eventsChanged += applyStatus(urlId, hostId, statusesInOrder(observations));
    for (const { ts, addresses, payload } of observations) {
      if (payload !== null) report.payloadsAdded += applyPayload(urlId, payload);
      for (const address of addresses) report.resolutionsChanged += applyAddress(urlId, ts, address);
    }
  }

  function applyAddress(urlId: number, ts: number, { ip, asn }: ObservedAddress): number {
    return putResolution.run(urlId, ip, dayOf(ts), ts, bucketOf(ts), asn);
  }

  return (observations) => {
    const report: ApplyReport = { urlsAdded: 0, eventsChanged: 0, payloadsAdded: 0, resolutionsChanged: 0 };
    try {
      db.transaction(() => {
        for (const group of groupByUrl(observations)) applyUrl(group, report);
      });
    } catch (error) {
      for (const dictionary of [hosts, reporters, removals, families]) dictionary.forget();
      throw error;
    }
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
