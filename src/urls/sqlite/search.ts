import type { Database } from '../../database/sqlite/database.ts';
import { type AddressKey, createPagedSearch, type FactKey, type LinesPage, SEARCH_ROWS } from '../paged-search.ts';
import { FIRST_HIDDEN_KIND, type UrlStore } from '../store.ts';
import { searchRecordSql } from '../wire.ts';

// SQLite builds and joins the lines: 1.0 µs a row. Converting rows to records and records to lines took 1.9 µs.
const RECORD = searchRecordSql('r.ts', 'r.url_id', 'urls.url');

/** An index (value, ts, url_id, tie) that is read newest first; every row that is read is a match. `?1` is the value. */
type FactIndex = { table: string; condition: string; tie: string };

const BY_HOST: FactIndex = { table: 'events', condition: `kind < ${FIRST_HIDDEN_KIND} and host_id = ?1`, tie: 'kind' };
const BY_FAMILY: FactIndex = { table: 'payloads', condition: 'family_id = ?1', tie: 'file_id' };
const BY_FILE: FactIndex = { table: 'payloads', condition: 'file_id = ?1', tie: 'file_id' };
const BY_ASN: FactIndex = { table: 'resolutions', condition: 'asn = ?1', tie: 'ip' };

const factRows = ({ table, condition, tie }: FactIndex) => `
  select ts, url_id, ${tie} from ${table}
  where ${condition} and ts >= ?2 and (ts, url_id, ${tie}) < (?3, ?4, ?5)
  order by ts desc, url_id desc, ${tie} desc`;

// A bare `limit ?6` is planned again at each run.
const factLines = (index: FactIndex) => `
  select count(*), group_concat(${RECORD}, char(10))
  from (${factRows(index)} limit cast(?6 as integer)) r join urls on urls.id = r.url_id`;

type FactLinesRow = [count: number, lines: string | null];

// The rows of one time and URL have the same line, so that the number of lines says which one was the last of a page.
const tieOf = ({ table, condition, tie }: FactIndex) => `
  select ${tie} from ${table} where ${condition} and ts = ?2 and url_id = ?3 and ${tie} < ?4
  order by ${tie} desc limit 1 offset cast(?5 as integer)`;

/** After every number and every address, in SQLite's order. */
const AFTER_ALL_TIES = new Uint8Array(17).fill(0xff);

// Addresses are read bucket by bucket, in order of address. Rows outside the window become no line. They are few: only
// the first and the last bucket of a window can have any.
const ADDRESS_ROWS = `
  select ip, ts, url_id from resolutions
  where bucket = ?1 and ip <= ?2 and (ip, ts, url_id) > (?3, ?4, ?5) order by ip, ts, url_id`;

const ADDRESS_LINES = `
  select count(*), count(urls.url), group_concat(iif(urls.url is null, null, ${RECORD}), char(10))
  from (${ADDRESS_ROWS} limit ${SEARCH_ROWS}) r
  left join urls on urls.id = r.url_id and r.ts between ?6 and ?7`;

type AddressLinesRow = [read: number, count: number, lines: string | null];

const LAST_ADDRESS = `${ADDRESS_ROWS} limit 1 offset ${SEARCH_ROWS - 1}`;

const NEWEST_BUCKET = 'select max(bucket) from resolutions where bucket <= ?';

/** Searches in a window of time, page by page. */
export function createSearch(db: Database): UrlStore['search'] {
  const addressLines = db.prepare<AddressLinesRow>(ADDRESS_LINES);
  const lastAddress = db.prepare<AddressKey>(LAST_ADDRESS);
  const newestBucket = db.prepare<[number | null]>(NEWEST_BUCKET);
  const hostId = db.prepare<[number]>('select id from hosts where host = ?');
  const familyIds = db.prepare<[number]>('select id from families where folded = ?');
  const fileId = db.prepare<[number]>('select id from files where file_key = ?');

  function factPage(index: FactIndex) {
    const lines = db.prepare<FactLinesRow>(factLines(index));
    const tie = db.prepare<[FactKey[2]]>(tieOf(index));

    function lastKey(text: string, value: number, before: FactKey): FactKey {
      const { ts, id, repeats } = lastLine(text);
      const isFirst = before[0] === ts && before[1] === id;
      const [last] = tie.get(value, ts, id, isFirst ? before[2] : AFTER_ALL_TIES, repeats) as [FactKey[2]];
      return [ts, id, last];
    }

    return (value: number, since: number, before: FactKey, limit: number): LinesPage<FactKey> => {
      const row = lines.get(value, since, ...before, Math.min(limit, SEARCH_ROWS));
      const [count, text] = row as FactLinesRow;
      if (text === null) return { lines: '', count, next: null };
      return { lines: `${text}\n`, count, next: count < SEARCH_ROWS ? null : lastKey(text, value, before) };
    };
  }

  return createPagedSearch({
    hostIds: (host) => hostId.all(host),
    familyIds: (folded) => familyIds.all(folded),
    fileIds: (sha256) => fileId.all(sha256),
    byHost: factPage(BY_HOST),
    byFamily: factPage(BY_FAMILY),
    byFile: factPage(BY_FILE),
    byAsn: factPage(BY_ASN),
    byIp: (bucket, to, after, { since, until }, limit) =>
      addressPage(addressLines.get(bucket, to, ...after, since, until), limit, () =>
        lastAddress.get(bucket, to, ...after),
      ),
    newestBucket: (from) => newestBucket.all(from),
  });
}

/** The time and URL of the last line, and how many lines before it are the same. */
function lastLine(lines: string): { ts: number; id: number; repeats: number } {
  let start = lines.lastIndexOf('\n') + 1;
  const line = lines.slice(start);
  let repeats = 0;
  for (; start > 0 && lines.endsWith(line, start - 1); repeats++) start -= line.length + 1;
  return { ...(JSON.parse(line) as { ts: number; id: number }), repeats };
}

type LastAddress = () => AddressKey | undefined;

function addressPage(row: AddressLinesRow | undefined, limit: number, last: LastAddress): LinesPage<AddressKey> {
  const [read, found, text] = row as AddressLinesRow;
  const count = Math.min(found, limit);
  return {
    lines: text === null ? '' : `${firstLines(text, found, count)}\n`,
    count,
    next: read < SEARCH_ROWS ? null : (last() ?? null),
  };
}

function firstLines(text: string, found: number, wanted: number): string {
  return wanted === found ? text : text.split('\n', wanted).join('\n');
}
