import type { Awaitable } from '../core/awaitable.ts';
import { compareKeys } from '../core/ip/network.ts';
import { laterOf } from '../core/time.ts';
import { rowPages } from '../database/pages.ts';
import { FIRST_RESOLUTION, type ReadPage, type ResolutionKey, type ResolutionRow } from './observation-export.ts';
import { comparePayloadRows, type EntryKey, type PayloadKey, type PayloadRow, toPayload } from './rows.ts';
import type { ConfirmedEvent, Payload, UrlAddress, UrlStore } from './store.ts';
import { type EntryRow, toEntry } from './stored-timeline.ts';
import { isEvent } from './timeline.ts';

/** The reads of an engine for one URL, in pages of `PAGE_ROWS`. Entries and payloads are newest first. */
type DetailReads = {
  id(url: string): Awaitable<number | null>;
  /** Hidden entries included. */
  entries: ReadPage<EntryRow, EntryKey>;
  payloads: ReadPage<PayloadRow, PayloadKey>;
  resolutions: ReadPage<ResolutionRow, ResolutionKey>;
  tags(urlId: number): Awaitable<[string][]>;
};

/** A host that changes its address every hour has thousands; people read the newest ones. */
const ADDRESSES_MAX = 100;

export function createDetails(reads: DetailReads): UrlStore['urlDetails'] {
  return async (url, limit) => {
    const id = await reads.id(url);
    if (id === null) return null;
    const [events, payloads, addresses, tags] = await Promise.all([
      newestEvents(id, limit),
      newestPayloads(id, limit),
      newestAddresses(id),
      reads.tags(id),
    ]);
    return { id, url, events, payloads, addresses, tags: tags.map(([name]) => name).sort() };
  };

  async function newestEvents(id: number, limit: number): Promise<ConfirmedEvent[]> {
    const events: ConfirmedEvent[] = [];
    let confirmedTs: number | null = null;
    const pages = rowPages(
      (before) => reads.entries(id, before),
      AFTER_ALL,
      ([ts, kind]): EntryKey => [ts, kind],
    );
    for await (const rows of pages) {
      for (const entry of rows.map(toEntry)) {
        confirmedTs = laterOf(confirmedTs, entry.confirmedTs);
        if (!isEvent(entry)) continue;
        events.push({ ...entry, confirmedTs });
        confirmedTs = null;
        if (events.length === limit) return events;
      }
    }
    return events;
  }

  /** The order of payloads of one second differs from that of the pages, so they are read to the end of a second. */
  async function newestPayloads(id: number, limit: number): Promise<Payload[]> {
    const found: PayloadRow[] = [];
    const pages = rowPages(
      (before) => reads.payloads(id, before),
      AFTER_ALL,
      ([ts, fileId]): PayloadKey => [ts, fileId],
    );
    for await (const rows of pages) {
      found.push(...rows);
      if (found.length > limit && found.at(-1)?.[0] !== found[limit - 1]?.[0]) break;
    }
    return found
      .sort((a, b) => comparePayloadRows(b, a))
      .slice(0, limit)
      .map(toPayload);
  }

  async function newestAddresses(id: number): Promise<UrlAddress[]> {
    const addresses: UrlAddress[] = [];
    const pages = rowPages(
      (after) => reads.resolutions(id, after),
      FIRST_RESOLUTION,
      ([ip, day]): ResolutionKey => [ip, day],
    );
    for await (const rows of pages) {
      for (const [ip, , ts, asn] of rows) {
        const last = addresses.at(-1);
        if (last === undefined || compareKeys(last.ip, ip) !== 0) addresses.push({ ip, asn, ts });
        else Object.assign(last, { ts, asn: asn ?? last.asn });
      }
    }
    return addresses.sort((a, b) => b.ts - a.ts || compareKeys(a.ip, b.ip)).slice(0, ADDRESSES_MAX);
  }
}

/** The key of entries and of payloads after all others, where the newest first page begins. */
const AFTER_ALL: [ts: number, tie: number] = [Number.MAX_SAFE_INTEGER, 0];
