import type { Database } from '../../database/postgres/database.ts';
import type { ReputationStore } from '../../reputation/store.ts';
import {
  cursorFault,
  type HostRow,
  hostIdsOf,
  lastOldSeq,
  pageOf,
  pickChanges,
  ROWS_AT_ONCE,
  type StoredRow,
  type UrlStateRow,
  urlIdsOf,
} from '../page-rules.ts';
import type { ChangeStore } from '../store.ts';
import { newestNumber } from './numbers.ts';

// One row with nulls if there is none after the cursor. One statement, so that all of it is of one state.
const ROWS = `
  select n.newest, exists (select 1 from changes where seq = $1), c.seq, c.count, c.ts, c.op, c.kind, c.subjects
  from change_numbers n left join lateral (
    select seq, count, ts, op, kind, subjects from changes where seq > $1 order by seq limit ${ROWS_AT_ONCE}) c on true
  order by c.seq`;

type Row = [newest: number, isEndOfRow: boolean, ...(StoredRow | null[])];

const URLS = `
  select u.id, u.url, u.event_ts, u.event_kind, removals.reason, reporters.name,
    p.ts, case when length(files.file_key) = 32 then encode(files.file_key, 'hex') end, families.name
  from urls u
  left join removals on removals.id = u.event_removal_id
  left join reporters on reporters.id = u.event_reporter_id
  left join payloads p on p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id
  left join files on files.id = p.file_id
  left join families on families.id = p.family_id
  where u.id = any($1::bigint[])`;

// Of listings that imports of URLs have changed.
const HOSTS = `select id, encode(ip, 'hex') from hosts where id = any($1::bigint[]) and ip is not null`;

const OLDEST_CURSOR = 'select seq - count from changes where seq is not null order by seq limit 1';

const OLDEST = 'select seq, ts from changes where seq > $1 order by seq limit $2';

/** Only after the last ones: rows that were deleted stay in the index while an older transaction, such as a dump, runs. */
const DELETE = 'delete from changes where seq > $1 and seq <= $2';

/** The change feed on PostgreSQL, from the primary: a replica may not have what was numbered last. */
export function createChangeStore(
  primary: Database,
  { listings, domainState }: Pick<ReputationStore, 'listings' | 'domainState'>,
): ChangeStore {
  return {
    newestChange: () => newestNumber(primary),

    async oldestCursor() {
      const newest = await newestNumber(primary);
      return (await primary.query<[number]>(OLDEST_CURSOR))[0]?.[0] ?? newest;
    },

    async changesAfter(after, asked, limit) {
      await newestNumber(primary);
      const found = await primary.query<Row>(ROWS, [after]);
      const [[newest, isEndOfRow] = [0, false]] = found;
      const rows = found.flatMap(([, , ...row]) => (row[0] === null ? [] : [row as StoredRow]));
      const fault = cursorFault(after, { newest, isEndOfRow, first: rows[0] });
      if (fault !== null) return fault;
      const page = pickChanges(rows, after, asked, limit);
      const [ids, hostIds] = [urlIdsOf(page.picked), hostIdsOf(page.picked)];
      const [urls, hosts] = await Promise.all([
        ids.length === 0 ? [] : primary.query<UrlStateRow>(URLS, [ids]),
        hostIds.length === 0 ? [] : primary.query<HostRow>(HOSTS, [hostIds]),
      ]);
      return pageOf(page, urls, hosts);
    },

    async removeOldChanges(beforeTs, after, limit) {
      await newestNumber(primary);
      const last = lastOldSeq(await primary.query<[seq: number, ts: number]>(OLDEST, [after, limit]), beforeTs);
      if (last !== null) await primary.run(DELETE, [after, last]);
      return last;
    },

    currentListings: listings,
    currentDomain: domainState,
  };
}
