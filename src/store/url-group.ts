import type { Observation, ObservedPayload } from '../core/observation.ts';
import { byTime, type StatusObservation } from '../core/timeline.ts';
import { urlKey } from './url-key.ts';

/** What a batch tells of one URL. */
export type UrlGroup = {
  key: Uint8Array;
  url: string;
  host: string;
  /** In order of time. */
  statuses: StatusObservation[];
  payloads: ObservedPayload[];
  addresses: { ts: number; ip: Uint8Array; asn: number | null }[];
};

/** In order of key: neighbours in the index are written together, and several writers lock URLs in one order. */
export function groupByUrl(observations: readonly Observation[]): UrlGroup[] {
  const groups = new Map<string, UrlGroup>();
  for (const observation of observations) {
    const { ts, url, host, status, removal, reporter, payload } = observation;
    let group = groups.get(url);
    if (group === undefined) {
      group = { key: urlKey(url), url, host, statuses: [], payloads: [], addresses: [] };
      groups.set(url, group);
    }
    if (status !== null) group.statuses.push({ ts, status, removal, reporter });
    if (payload !== null) group.payloads.push(payload);
    for (const { ip, asn } of observation.addresses) group.addresses.push({ ts, ip, asn });
  }
  for (const { statuses } of groups.values()) statuses.sort(byTime);
  return [...groups.values()].sort((a, b) => Buffer.compare(a.key, b.key));
}
