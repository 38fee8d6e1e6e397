import { pageOf } from '../../database/pages.ts';
import type { Query } from '../../database/postgres/database.ts';
import { type AddressKey, createPagedSearch, type FactKey, type LinesPage, SEARCH_ROWS } from '../paged-search.ts';
import { FIRST_HIDDEN_KIND, type UrlStore } from '../store.ts';
import { searchLine } from '../wire.ts';

// A test checks the plan of every statement that this file exports (test/database/postgres-server.test.ts).

// The next four searches read an index (value, ts, …), newest first; every row that is read is a match.

export const BY_HOST = `
  select e.ts, e.url_id, e.kind, urls.url from events e join urls on urls.id = e.url_id
  where e.host_id = $1 and e.kind < ${FIRST_HIDDEN_KIND} and e.ts >= $2 and (e.ts, e.url_id, e.kind) < ($3, $4, $5)
  order by e.ts desc, e.url_id desc, e.kind desc limit ${SEARCH_ROWS}`;

export const BY_FAMILY = `
  select p.ts, p.url_id, p.file_id, urls.url from payloads p join urls on urls.id = p.url_id
  where p.family_id = $1 and p.ts >= $2 and (p.ts, p.url_id, p.file_id) < ($3, $4, $5)
  order by p.ts desc, p.url_id desc, p.file_id desc limit ${SEARCH_ROWS}`;

export const BY_FILE = `
  select p.ts, p.url_id, p.file_id, urls.url from payloads p join urls on urls.id = p.url_id
  where p.file_id = $1 and p.ts >= $2 and (p.ts, p.url_id) < ($3, $4)
  order by p.ts desc, p.url_id desc limit ${SEARCH_ROWS}`;

export const BY_ASN = `
  select r.ts, r.url_id, r.ip, urls.url from resolutions r join urls on urls.id = r.url_id
  where r.asn = $1 and r.ts >= $2 and (r.ts, r.url_id, r.ip) < ($3, $4, $5)
  order by r.ts desc, r.url_id desc, r.ip desc limit ${SEARCH_ROWS}`;

// Addresses are read bucket by bucket, in order of address. The URL of rows outside the window is null. They are few:
// only the first and the last bucket of a window can have any.
export const BY_IP = `
  select ts, url_id, ip, (select url from urls where id = url_id and ts between $6 and $7)
  from (select ip, ts, url_id from resolutions
        where bucket = $1 and ip <= $2 and (ip, ts, url_id) > ($3, $4, $5)
        order by ip, ts, url_id limit ${SEARCH_ROWS}) r`;

// The greatest `until` is in a bucket that does not fit into the column, hence bigint.
export const NEWEST_BUCKET = 'select max(bucket) from resolutions where bucket <= $1::bigint';

export const HOST_ID = 'select id from hosts where host = $1';
export const FAMILY_IDS = 'select id from families where text_key(folded) = text_key($1)';
export const FILE_ID = 'select id from files where file_key = $1';

type FactRow = [ts: number, id: number, tie: number | Uint8Array, url: string];
/** The URL is null outside the window. */
type AddressRow = [ts: number, id: number, ip: Uint8Array, url: string | null];

/** Searches in a window of time, page by page. */
export function createSearch(query: Query): UrlStore['search'] {
  const factPage =
    (sql: string, keyLength = 3) =>
    async (value: number, since: number, before: FactKey, limit: number, signal: AbortSignal) => {
      const rows = await query<FactRow>(sql, [value, since, ...before.slice(0, keyLength)], signal);
      return linesPage(rows, ([ts, id, tie]): FactKey => [ts, id, tie], limit);
    };

  return createPagedSearch({
    hostIds: (host) => query(HOST_ID, [host]),
    // PostgreSQL refuses a text with NUL, and no family has one.
    familyIds: (folded) => (folded.includes('\0') ? [] : query(FAMILY_IDS, [folded])),
    fileIds: (sha256) => query(FILE_ID, [sha256]),
    byHost: factPage(BY_HOST),
    byFamily: factPage(BY_FAMILY),
    byFile: factPage(BY_FILE, 2), // the file is the same in all rows
    byAsn: factPage(BY_ASN),
    async byIp(bucket, to, after, { since, until }, limit, signal) {
      const rows = await query<AddressRow>(BY_IP, [bucket, to, ...after, since, until], signal);
      return linesPage(rows, ([ts, id, ip]): AddressKey => [ip, ts, id], limit);
    },
    newestBucket: (from) => query(NEWEST_BUCKET, [from]),
  });
}

function linesPage<Row extends FactRow | AddressRow, Key>(
  rows: Row[],
  keyOf: (row: Row) => Key,
  limit: number,
): LinesPage<Key> {
  const toLine = ([ts, id, , url]: Row) => (url === null ? null : searchLine(ts, id, url));
  const { items, next } = pageOf(rows, toLine, keyOf, SEARCH_ROWS);
  const lines = items.filter((line) => line !== null).slice(0, limit);
  return { lines: lines.join(''), count: lines.length, next };
}
