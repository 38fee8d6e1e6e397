import type { Network } from '../core/network.ts';
import type { Fact } from '../core/records.ts';
import type { SearchKey } from '../core/search-key.ts';
import type { Window } from '../core/window.ts';
import { pageOf, readPages } from './pages.ts';
import { bucketOf } from './resolution-time.ts';
import type { Bounds, Store } from './store.ts';

/** `tie` is the last column of the index that is read: with it each row has a key of its own. */
export type FactRow = [ts: number, id: number, tie: number | Uint8Array, url: string];
export type FactKey = [ts: number, id: number, tie: number | Uint8Array];

/** The URL is null outside the window. */
export type AddressRow = [ts: number, id: number, ip: Uint8Array, url: string | null];
export type AddressKey = [ip: Uint8Array, ts: number, id: number];

type Rows<Row> = Row[] | Promise<Row[]>;
type FactPage = (what: number, since: number, before: FactKey, signal: AbortSignal) => Rows<FactRow>;
type Range = Network['ranges'][number];

/** What an engine reads for a search: ids, and pages of `PAGE_ROWS` from the newest end, or in order of address. */
export type SearchReads = {
  hostIds(host: string): Rows<[number]>;
  familyIds(folded: string): Rows<[number]>;
  fileIds(sha256: Uint8Array): Rows<[number]>;
  byHost: FactPage;
  byFamily: FactPage;
  byFile: FactPage;
  byAsn: FactPage;
  byIp(bucket: number, to: Uint8Array, after: AddressKey, window: Window, signal: AbortSignal): Rows<AddressRow>;
  /** The newest bucket that has addresses, from this one back. */
  newestBucket(from: number): Rows<[number | null]>;
};

/** Less than every other, of its type. */
const NO_ID = 0;
const NO_ADDRESS = new Uint8Array(0);

/** Searches in a window of time, page by page. */
export function createPagedSearch(reads: SearchReads): Store['search'] {
  async function* addresses({ ranges }: Network, window: Window, bounds: Bounds) {
    let left = bounds.limit;
    let bucket = await newestUpTo(bucketOf(window.until));
    while (bucket !== null && bucket >= bucketOf(window.since) && left > 0) {
      for (const range of ranges) {
        for await (const page of addressesIn(bucket, range, window, { ...bounds, limit: left })) {
          yield page;
          left -= page.length;
        }
      }
      bounds.signal.throwIfAborted();
      bucket = await newestUpTo(bucket - 1);
    }
  }

  async function newestUpTo(bucket: number): Promise<number | null> {
    return (await reads.newestBucket(bucket))[0]?.[0] ?? null;
  }

  function addressesIn(bucket: number, [from, to]: Range, window: Window, bounds: Bounds) {
    return readPages<Fact, AddressKey>([from, -1, NO_ID], bounds, async (key) => {
      const rows = await reads.byIp(bucket, to, key, window, bounds.signal);
      const page = pageOf(rows, toAddressFact, ([ts, id, ip]): AddressKey => [ip, ts, id]);
      return { ...page, items: page.items.filter((fact) => fact !== null) };
    });
  }

  return (key, window, bounds) => {
    switch (key.by) {
      case 'ip':
        return addresses(key.network, window, bounds);
      case 'asn':
        return facts(reads.byAsn, key.asn, NO_ADDRESS, window, bounds);
      default:
        return each(key);
    }

    /** Several ids one after the other, as if they were one. */
    async function* each(by: Exclude<SearchKey, { by: 'ip' | 'asn' }>) {
      const [ids, read] = await idsOf(by);
      let left = bounds.limit;
      for (const [id] of ids) {
        for await (const page of facts(read, id, NO_ID, window, { ...bounds, limit: left })) {
          yield page;
          left -= page.length;
        }
      }
    }
  };

  async function idsOf(key: Exclude<SearchKey, { by: 'ip' | 'asn' }>): Promise<[[number][], FactPage]> {
    switch (key.by) {
      case 'host':
        return [await reads.hostIds(key.host), reads.byHost];
      case 'family':
        return [await reads.familyIds(key.folded), reads.byFamily];
      case 'sha256':
        return [await reads.fileIds(Buffer.from(key.sha256, 'hex')), reads.byFile];
    }
  }
}

function facts(read: FactPage, what: number, noTie: number | Uint8Array, { since, until }: Window, bounds: Bounds) {
  return readPages<Fact, FactKey>([until + 1, NO_ID, noTie], bounds, async (key) =>
    pageOf(await read(what, since, key, bounds.signal), toFact, ([ts, id, tie]): FactKey => [ts, id, tie]),
  );
}

function toFact([ts, id, , url]: FactRow): Fact {
  return { ts, id, url };
}

function toAddressFact([ts, id, , url]: AddressRow): Fact | null {
  return url === null ? null : { ts, id, url };
}
