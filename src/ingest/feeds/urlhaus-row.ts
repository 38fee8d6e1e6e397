import type { ObservationInput } from '../../core/observation.ts';
import { parseUtc, toText } from '../values.ts';

/** What URLhaus tells of a URL, in its own words. */
export type UrlhausRow = {
  dateadded: unknown;
  url: string | null;
  urlStatus: string | null;
  lastOnline: unknown;
  reporter: string | null;
};

/** `unknown`: not checked yet. */
const STATUSES = ['online', 'offline', 'unknown', null];

/**
 * Online at `dateadded`; online at `last_online`, where given; if its status is offline, offline at `last_online`, or at
 * `dateadded` where that is missing. Nothing depends on the clock or the file's date.
 */
export function readUrlhausRow(row: UrlhausRow): { inputs: ObservationInput[] } | string {
  const addedTs = parseUtc(row.dateadded);
  if (addedTs === null) return 'dateadded: a time such as 2025-07-17 17:19:14 is needed';
  if (row.url === null) return 'url: missing';
  if (!STATUSES.includes(row.urlStatus)) return 'url_status: online, offline or unknown is needed';
  const { url } = row;
  const reporter = row.reporter ?? '';
  const lastTs = parseUtc(row.lastOnline);
  const inputs: ObservationInput[] = [{ ts: addedTs, url, status: 'online', reporter }];
  if (lastTs !== null && lastTs !== addedTs) inputs.push({ ts: lastTs, url, status: 'online', reporter });
  if (row.urlStatus === 'offline') inputs.push({ ts: lastTs ?? addedTs, url, status: 'offline', reporter });
  return { inputs };
}

/** A URL of any length: whether it is one is for `core/url.ts` to say. */
export function toUrl(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  return value.length < 5 ? toText(value) : value;
}
