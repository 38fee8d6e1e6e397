import { setImmediate } from 'node:timers/promises';
import type { UrlStore, UrlSummary } from './store.ts';
import { isOnline } from './stored-timeline.ts';

/** The last event and payload are columns of `urls`; the rest is found by their ids. */
export type SummaryRow = [
  id: number,
  url: string,
  kind: number | null,
  eventTs: number | null,
  payloadTs: number | null,
  reporter: string | null,
  family: string | null,
  ip: Uint8Array | null,
  asn: number | null,
  resolvedTs: number | null,
];

type SummaryReads = {
  /** Ids from the greatest one down. */
  greatestIds(limit: number): [number][] | Promise<[number][]>;
  summaries(ids: readonly number[]): SummaryRow[] | Promise<SummaryRow[]>;
};

/** URLs that are read before other requests are handled. All resolutions of each are read, of most URLs fewer than ten. */
const IDS_PER_READ = 50;

export function createUrlSummaries(reads: SummaryReads): Pick<UrlStore, 'lastStoredUrls' | 'urlSummaries'> {
  async function urlSummaries(ids: readonly number[]): Promise<UrlSummary[]> {
    const found = new Map<number, UrlSummary>();
    for (let from = 0; from < ids.length; from += IDS_PER_READ) {
      if (from > 0) await setImmediate();
      for (const row of await reads.summaries(ids.slice(from, from + IDS_PER_READ))) found.set(row[0], toSummary(row));
    }
    return ids.flatMap((id) => found.get(id) ?? []);
  }
  return {
    urlSummaries,
    lastStoredUrls: async (limit) => urlSummaries((await reads.greatestIds(limit)).map(([id]) => id)),
  };
}

function toSummary([id, url, kind, eventTs, payloadTs, reporter, family, ip, asn, resolvedTs]: SummaryRow): UrlSummary {
  return {
    id,
    url,
    reporter,
    family,
    status: kind === null ? null : isOnline(kind) ? 'online' : 'offline',
    ts: eventTs ?? payloadTs ?? resolvedTs ?? 0,
    address: ip === null || resolvedTs === null ? null : { ip: new Uint8Array(ip), asn, ts: resolvedTs },
  };
}
