import type { Network } from '../../core/network.ts';
import type { Fact } from '../../core/records.ts';
import type { SearchKey } from '../../core/search-key.ts';
import type { Window } from '../../core/window.ts';
import { PAGE_ROWS, pageOf, readPages } from '../pages.ts';
import { bucketOf } from '../resolution-time.ts';
import type { Bounds } from '../store.ts';
import type { Database, Query } from './database.ts';

// The four searches below read an index (what, ts, …) from the newest end; every row that is read is a match.
// `tie` is the last column of the index: with it each row has a key of its own.

type FactRow = [ts: number, id: number, tie: number | Uint8Array | null, url: string];
type FactKey = [ts: number, id: number, tie: number | Uint8Array | null];

const BY_HOST = `
  select e.ts, e.url_id, e.kind, urls.url from events e join urls on urls.id = e.url_id
  where e.host_id = ? and e.kind < 4 and e.ts >= ? and (e.ts, e.url_id, e.kind) < (?, ?, ?)
  order by e.ts desc, e.url_id desc, e.kind desc limit ${PAGE_ROWS}`;

const BY_FAMILY = `
  select p.ts, p.url_id, p.file_id, urls.url from payloads p join urls on urls.id = p.url_id
  where p.family_id = ? and p.ts >= ? and (p.ts, p.url_id, p.file_id) < (?, ?, ?)
  order by p.ts desc, p.url_id desc, p.file_id desc limit ${PAGE_ROWS}`;

const BY_FILE = `
  select p.ts, p.url_id, p.file_id, urls.url from payloads p join urls on urls.id = p.url_id
  where p.file_id = ? and p.ts >= ? and (p.ts, p.url_id, p.file_id) < (?, ?, ?)
  order by p.ts desc, p.url_id desc, p.file_id desc limit ${PAGE_ROWS}`;

const BY_ASN = `
  select r.ts, r.url_id, r.ip, urls.url from resolutions r join urls on urls.id = r.url_id
  where r.asn = ? and r.ts >= ? and (r.ts, r.url_id, r.ip) < (?, ?, ?)
  order by r.ts desc, r.url_id desc, r.ip desc limit ${PAGE_ROWS}`;

// Addresses are read bucket by bucket, in order of address; rows outside the window come without their URL. They are
// few: only the first and the last bucket of a window can hold any.
const BY_IP = `
  select r.ts, r.url_id, r.ip, urls.url
  from (select ip, ts, url_id from resolutions
        where bucket = ? and ip <= ? and (ip, ts, url_id) > (?, ?, ?) order by ip, ts, url_id limit ${PAGE_ROWS}) r
  left join urls on urls.id = r.url_id and r.ts between ? and ?`;

const NEWEST_BUCKET = 'select max(bucket) from resolutions where bucket <= ?';

type AddressRow = [ts: number, id: number, ip: Uint8Array, url: string | null];
type AddressKey = [ip: Uint8Array, ts: number, id: number];
type Range = Network['ranges'][number];

/** Searches in a window of time, page by page. */
export function createSearch(db: Database) {
  const byHost = db.prepare<FactRow>(BY_HOST);
  const byFamily = db.prepare<FactRow>(BY_FAMILY);
  const byFile = db.prepare<FactRow>(BY_FILE);
  const byAsn = db.prepare<FactRow>(BY_ASN);
  const byIp = db.prepare<AddressRow>(BY_IP);
  const newestBucket = db.prepare<[number | null]>(NEWEST_BUCKET);
  const hostId = db.prepare<[number]>('select id from hosts where host = ?');
  const familyIds = db.prepare<[number]>('select id from families where folded = ?');
  const fileId = db.prepare<[number]>('select id from files where file_key = ?');

  function facts(query: Query<FactRow>, what: number, { since, until }: Window, bounds: Bounds) {
    return readPages<Fact, FactKey>([until + 1, 0, 0], bounds, (key) =>
      pageOf(query.all(what, since, ...key), toFact, ([ts, id, tie]): FactKey => [ts, id, tie]),
    );
  }

  /** One after the other, as if they were one. */
  async function* each(query: Query<FactRow>, ids: [number][], window: Window, bounds: Bounds) {
    let left = bounds.limit;
    for (const [id] of ids) {
      for await (const page of facts(query, id, window, { ...bounds, limit: left })) {
        yield page;
        left -= page.length;
      }
    }
  }

  async function* addresses({ ranges }: Network, window: Window, bounds: Bounds) {
    let left = bounds.limit;
    let bucket = newestUpTo(bucketOf(window.until));
    while (bucket !== null && bucket >= bucketOf(window.since) && left > 0) {
      for (const range of ranges) {
        for await (const page of addressesIn(bucket, range, window, { ...bounds, limit: left })) {
          yield page;
          left -= page.length;
        }
      }
      bounds.signal.throwIfAborted();
      bucket = newestUpTo(bucket - 1);
    }
  }

  function newestUpTo(bucket: number): number | null {
    return newestBucket.get(bucket)?.[0] ?? null;
  }

  function addressesIn(bucket: number, [from, to]: Range, { since, until }: Window, bounds: Bounds) {
    return readPages<Fact, AddressKey>([from, -1, 0], bounds, (key) => {
      const rows = byIp.all(bucket, to, ...key, since, until);
      const page = pageOf(rows, toAddressFact, ([ts, id, ip]): AddressKey => [ip, ts, id]);
      return { ...page, items: page.items.filter((fact) => fact !== null) };
    });
  }

  return (key: SearchKey, window: Window, bounds: Bounds): AsyncIterable<Fact[]> => {
    switch (key.by) {
      case 'ip':
        return addresses(key.network, window, bounds);
      case 'asn':
        return facts(byAsn, key.asn, window, bounds);
      case 'host':
        return each(byHost, hostId.all(key.host), window, bounds);
      case 'family':
        return each(byFamily, familyIds.all(key.folded), window, bounds);
      case 'sha256':
        return each(byFile, fileId.all(Buffer.from(key.sha256, 'hex')), window, bounds);
    }
  };
}

function toFact([ts, id, , url]: FactRow): Fact {
  return { ts, id, url };
}

function toAddressFact([ts, id, , url]: AddressRow): Fact | null {
  return url === null ? null : { ts, id, url };
}
