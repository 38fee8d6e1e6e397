import { setImmediate } from 'node:timers/promises';
import type { Awaitable } from '../core/awaitable.ts';
import type { IpRange, Network } from '../core/ip/network.ts';
import type { TimeWindow } from '../core/time.ts';
import type { Bounds } from '../database/pages.ts';
import type { SearchKey } from './search-key.ts';
import { bucketOf, type UrlStore } from './store.ts';

/** `tie`: the last column of the index, which makes the key unique. */
export type FactKey = [ts: number, id: number, tie: number | Uint8Array];
export type AddressKey = [ip: Uint8Array, ts: number, id: number];

/** `count` facts, one line of JSON each. `next`: the key of the last row read; null after the last page. */
export type LinesPage<Key> = { lines: string; count: number; next: Key | null };

/** Rows in one page: half a page takes a twentieth more processor time for each row. A statement takes a millisecond. */
export const SEARCH_ROWS = 1_000;

/**
 * `value`: the AS number, or the id of the host, family or file. `limit`: the maximum of lines. A caller that gets as many
 * reads no further page.
 */
type FactPage = (
  value: number,
  since: number,
  before: FactKey,
  limit: number,
  signal: AbortSignal,
) => Awaitable<LinesPage<FactKey>>;

/** The reads of an engine for a search: ids, and pages of `SEARCH_ROWS`, newest first or in order of address. */
export type SearchReads = {
  hostIds(host: string): Awaitable<[number][]>;
  familyIds(folded: string): Awaitable<[number][]>;
  fileIds(sha256: Uint8Array): Awaitable<[number][]>;
  byHost: FactPage;
  byFamily: FactPage;
  byFile: FactPage;
  byAsn: FactPage;
  /** Reads a page of addresses; only those inside the window become lines. */
  byIp(
    bucket: number,
    to: Uint8Array,
    after: AddressKey,
    window: TimeWindow,
    limit: number,
    signal: AbortSignal,
  ): Awaitable<LinesPage<AddressKey>>;
  /** The newest bucket that has addresses, not newer than `from`. */
  newestBucket(from: number): Awaitable<[number | null][]>;
};

/** Before all others. */
const NO_ID = 0;
const NO_ADDRESS = new Uint8Array(0);

/** Searches in a window of time, page by page. */
export function createPagedSearch(reads: SearchReads): UrlStore['search'] {
  async function* addresses({ ranges }: Network, window: TimeWindow, bounds: Bounds) {
    let left = bounds.limit;
    let bucket = await newestUpTo(bucketOf(window.until));
    while (bucket !== null && bucket >= bucketOf(window.since) && left > 0) {
      for (const range of ranges) {
        for await (const { lines, count } of addressesIn(bucket, range, window, { ...bounds, limit: left })) {
          yield lines;
          left -= count;
        }
      }
      bounds.signal.throwIfAborted();
      bucket = await newestUpTo(bucket - 1);
    }
  }

  async function newestUpTo(bucket: number): Promise<number | null> {
    return (await reads.newestBucket(bucket))[0]?.[0] ?? null;
  }

  function addressesIn(bucket: number, [from, to]: IpRange, window: TimeWindow, bounds: Bounds) {
    return readLines<AddressKey>([from, -1, NO_ID], bounds, (key, limit) =>
      reads.byIp(bucket, to, key, window, limit, bounds.signal),
    );
  }

  /** Reads the facts of several ids as one stream. */
  async function* facts(key: Exclude<SearchKey, { by: 'ip' }>, { since, until }: TimeWindow, bounds: Bounds) {
    const [ids, read, noTie] = await idsOf(key);
    let left = bounds.limit;
    for (const [id] of ids) {
      const pages = readLines<FactKey>([until + 1, NO_ID, noTie], { ...bounds, limit: left }, (before, limit) =>
        read(id, since, before, limit, bounds.signal),
      );
      for await (const { lines, count } of pages) {
        yield lines;
        left -= count;
      }
    }
  }

  async function idsOf(key: Exclude<SearchKey, { by: 'ip' }>): Promise<[[number][], FactPage, FactKey[2]]> {
    switch (key.by) {
      case 'asn':
        return [[[key.asn]], reads.byAsn, NO_ADDRESS];
      case 'host':
        return [await reads.hostIds(key.host), reads.byHost, NO_ID];
      case 'family':
        return [await reads.familyIds(key.folded), reads.byFamily, NO_ID];
      case 'sha256':
        return [await reads.fileIds(Buffer.from(key.sha256, 'hex')), reads.byFile, NO_ID];
    }
  }

  return (key, window, bounds) =>
    key.by === 'ip' ? addresses(key.network, window, bounds) : facts(key, window, bounds);
}

/** The same as `readPages`, for lines. */
async function* readLines<Key>(
  first: Key,
  { limit, signal }: Bounds,
  read: (key: Key, limit: number) => Awaitable<LinesPage<Key>>,
): AsyncGenerator<LinesPage<Key>, void, void> {
  let key: Key | null = first;
  let left = limit;
  while (key !== null && left > 0) {
    signal.throwIfAborted();
    const page: LinesPage<Key> = await read(key, left);
    if (page.count > 0) yield page;
    left -= page.count;
    key = page.next;
    await setImmediate();
  }
}
