import { PAGE_ROWS } from '../pages.ts';
import { type AddressKey, createPagedSearch, type FactKey } from '../search-pages.ts';
import type { Store } from '../store.ts';
import type { Database } from './database.ts';

// Lines are made and joined by SQLite, and the key of the last row of a page is read from the index alone: together
// 1.15 µs a row, where rows that become records and then lines took 1.9.
const LINES = `count(*), group_concat(json_object('ts', r.ts, 'id', r.url_id, 'url', urls.url), char(10))`;
type LinesRow = [count: number, lines: string | null];

/** An index (what, ts, url_id, tie) that is read from the newest end; every row that is read is a match. */
type FactIndex = { table: string; what: string; tie: string };

const BY_HOST: FactIndex = { table: 'events', what: 'kind < 4 and host_id', tie: 'kind' };
const BY_FAMILY: FactIndex = { table: 'payloads', what: 'family_id', tie: 'file_id' };
const BY_FILE: FactIndex = { table: 'payloads', what: 'file_id', tie: 'file_id' };
const BY_ASN: FactIndex = { table: 'resolutions', what: 'asn', tie: 'ip' };

const factRows = ({ table, what, tie }: FactIndex) => `
  select ts, url_id, ${tie} from ${table}
  where ${what} = ?1 and ts >= ?2 and (ts, url_id, ${tie}) < (?3, ?4, ?5)
  order by ts desc, url_id desc, ${tie} desc`;

const factLines = (index: FactIndex) => `
  select ${LINES} from (${factRows(index)} limit ?6) r join urls on urls.id = r.url_id`;

const lastFact = (index: FactIndex) => `${factRows(index)} limit 1 offset ${PAGE_ROWS - 1}`;

// Addresses are read bucket by bucket, in order of address. Those outside the window are few: only the first and the last
// bucket of a window can hold any.
const ADDRESS_ROWS = `
  select ip, ts, url_id from resolutions
  where bucket = ?1 and ip <= ?2 and (ip, ts, url_id) > (?3, ?4, ?5) order by ip, ts, url_id`;

const ADDRESS_LINES = `
  select ${LINES} from (
    select ts, url_id from (${ADDRESS_ROWS} limit ${PAGE_ROWS}) r where ts between ?6 and ?7 limit ?8) r
  join urls on urls.id = r.url_id`;

const LAST_ADDRESS = `${ADDRESS_ROWS} limit 1 offset ${PAGE_ROWS - 1}`;

const NEWEST_BUCKET = 'select max(bucket) from resolutions where bucket <= ?';

/** Searches in a window of time, page by page. */
export function createSearch(db: Database): Store['search'] {
  const addressLines = db.prepare<LinesRow>(ADDRESS_LINES);
  const lastAddress = db.prepare<AddressKey>(LAST_ADDRESS);
  const newestBucket = db.prepare<[number | null]>(NEWEST_BUCKET);
  const hostId = db.prepare<[number]>('select id from hosts where host = ?');
  const familyIds = db.prepare<[number]>('select id from families where folded = ?');
  const fileId = db.prepare<[number]>('select id from files where file_key = ?');

  function factPage(index: FactIndex) {
    const lines = db.prepare<LinesRow>(factLines(index));
    const last = db.prepare<FactKey>(lastFact(index));
    return (what: number, since: number, before: FactKey, limit: number) => ({
      ...linesOf(lines.get(what, since, ...before, Math.min(limit, PAGE_ROWS))),
      next: limit <= PAGE_ROWS ? null : (last.get(what, since, ...before) ?? null),
    });
  }

  return createPagedSearch({
    hostIds: (host) => hostId.all(host),
    familyIds: (folded) => familyIds.all(folded),
    fileIds: (sha256) => fileId.all(sha256),
    byHost: factPage(BY_HOST),
    byFamily: factPage(BY_FAMILY),
    byFile: factPage(BY_FILE),
    byAsn: factPage(BY_ASN),
    byIp: (bucket, to, after, { since, until }, limit) => ({
      ...linesOf(addressLines.get(bucket, to, ...after, since, until, Math.min(limit, PAGE_ROWS))),
      next: lastAddress.get(bucket, to, ...after) ?? null,
    }),
    newestBucket: (from) => newestBucket.all(from),
  });
}

function linesOf([count, lines]: LinesRow = [0, null]): { lines: string; count: number } {
  return { lines: lines === null ? '' : `${lines}\n`, count };
}
