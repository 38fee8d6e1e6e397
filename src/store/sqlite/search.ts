import { PAGE_ROWS } from '../pages.ts';
import { type AddressRow, createPagedSearch, type FactRow } from '../search-pages.ts';
import type { Store } from '../store.ts';
import type { Database } from './database.ts';

// The four searches below read an index (what, ts, …) from the newest end; every row that is read is a match.

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

/** Searches in a window of time, page by page. */
export function createSearch(db: Database): Store['search'] {
  const byHost = db.prepare<FactRow>(BY_HOST);
  const byFamily = db.prepare<FactRow>(BY_FAMILY);
  const byFile = db.prepare<FactRow>(BY_FILE);
  const byAsn = db.prepare<FactRow>(BY_ASN);
  const byIp = db.prepare<AddressRow>(BY_IP);
  const newestBucket = db.prepare<[number | null]>(NEWEST_BUCKET);
  const hostId = db.prepare<[number]>('select id from hosts where host = ?');
  const familyIds = db.prepare<[number]>('select id from families where folded = ?');
  const fileId = db.prepare<[number]>('select id from files where file_key = ?');
  return createPagedSearch({
    hostIds: (host) => hostId.all(host),
    familyIds: (folded) => familyIds.all(folded),
    fileIds: (sha256) => fileId.all(sha256),
    byHost: (id, since, before) => byHost.all(id, since, ...before),
    byFamily: (id, since, before) => byFamily.all(id, since, ...before),
    byFile: (id, since, before) => byFile.all(id, since, ...before),
    byAsn: (asn, since, before) => byAsn.all(asn, since, ...before),
    byIp: (bucket, to, after, { since, until }) => byIp.all(bucket, to, ...after, since, until),
    newestBucket: (from) => newestBucket.all(from),
  });
}
