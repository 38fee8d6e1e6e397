import { setImmediate } from 'node:timers/promises';
import type { Network } from '../core/ip/network.ts';
import type { TimeWindow } from '../core/time.ts';
import type { Bounds } from '../database/pages.ts';
import { bucketOf } from './resolution-rules.ts';
import type { SearchKey } from './search-key.ts';
import type { UrlStore } from './store.ts';

/** `tie` is the last column of the index that is read: with it each row has a key of its own. */
export type FactKey = [ts: number, id: number, tie: number | Uint8Array];
export type AddressKey = [ip: Uint8Array, ts: number, id: number];

/** `count` facts, a line of JSON each, and from where the next page goes on; null when there is nothing more. */
export type LinesPage<Key> = { lines: string; count: number; next: Key | null };

type Soon<T> = T | Promise<T>;
/** `limit`: no more lines than these, and none behind them is asked for. */
type FactPage = (
  what: number,
  since: number,
  before: FactKey,
  limit: number,
  signal: AbortSignal,
) => Soon<LinesPage<FactKey>>;
type Range = Network['ranges'][number];

/** What an engine reads for a search: ids, and pages of `PAGE_ROWS` from the newest end, or in order of address. */
export type SearchReads = {
  hostIds(host: string): Soon<[number][]>;
  familyIds(folded: string): Soon<[number][]>;
  fileIds(sha256: Uint8Array): Soon<[number][]>;
  byHost: FactPage;
  byFamily: FactPage;
  byFile: FactPage;
  byAsn: FactPage;
  /** Looks at a page of addresses, of which those inside the window become lines. */
  byIp(
    bucket: number,
    to: Uint8Array,
    after: AddressKey,
    window: TimeWindow,
    limit: number,
    signal: AbortSignal,
  ): Soon<LinesPage<AddressKey>>;
  /** The newest bucket that has addresses, from this one back. */
  newestBucket(from: number): Soon<[number | null][]>;
};

/** Less than every other, of its type. */
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

  function addressesIn(bucket: number, [from, to]: Range, window: TimeWindow, bounds: Bounds) {
    return readLines<AddressKey>([from, -1, NO_ID], bounds, (key, limit) =>
      reads.byIp(bucket, to, key, window, limit, bounds.signal),
    );
  }

  /** Several ids one after the other, as if they were one. */
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

/** As `readPages` does with records. */
async function* readLines<Key>(
  first: Key,
  { limit, signal }: Bounds,
  read: (key: Key, limit: number) => Soon<LinesPage<Key>>,
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
