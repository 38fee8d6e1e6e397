import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { ReputationStore } from '../../reputation/store.ts';
import {
  cursorFault,
  type HostRow,
  hostIdsOf,
  pageOf,
  pickChanges,
  ROWS_AT_ONCE,
  type StoredRow,
  type UrlStateRow,
  urlIdsOf,
} from '../page-rules.ts';
import type { ChangeStore } from '../store.ts';
import type { ChangeWrites } from './writes.ts';

const NEWEST = 'select newest from change_numbers';

const OLDEST = 'select seq - count from changes order by seq limit 1';

const IS_END_OF_ROW = 'select 1 from changes where seq = ?';

const ROWS = `
  select seq, count, ts, op, kind, subjects from changes where seq > ? order by seq limit ${ROWS_AT_ONCE}`;

const URLS = `
  select u.id, u.url, u.event_ts, u.event_kind, removals.reason, reporters.name,
    p.ts, case when length(files.file_key) = 32 then lower(hex(files.file_key)) end, families.name
  from json_each(?) ids join urls u on u.id = ids.value
  left join removals on removals.id = u.event_removal_id
  left join reporters on reporters.id = u.event_reporter_id
  left join payloads p on p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id
  left join files on files.id = p.file_id
  left join families on families.id = p.family_id`;

const HOSTS = `
  select h.id, lower(hex(h.ip)) from json_each(?) ids join hosts h on h.id = ids.value where h.ip is not null`;

/** The change feed of `intelligence.db`. */
export function createChangeStore(
  { db, write }: DatabaseFile<ChangeWrites>,
  { listings, domainState }: Pick<ReputationStore, 'listings' | 'domainState'>,
): ChangeStore {
  const newest = db.prepare<[number]>(NEWEST);
  const oldest = db.prepare<[number]>(OLDEST);
  const endOfRow = db.prepare<[1]>(IS_END_OF_ROW);
  const rowsAfter = db.prepare<StoredRow>(ROWS);
  const urls = db.prepare<UrlStateRow>(URLS);
  const hosts = db.prepare<HostRow>(HOSTS);
  return {
    newestChange: () => newest.one()[0],
    oldestCursor: () => (oldest.get() ?? newest.one())[0],

    // All in one read transaction.
    async changesAfter(after, asked, limit) {
      const rows = rowsAfter.all(after);
      const state = { newest: newest.one()[0], isEndOfRow: endOfRow.get(after) !== undefined, first: rows[0] };
      const fault = cursorFault(after, state);
      if (fault !== null) return fault;
      const page = pickChanges(rows, after, asked, limit);
      const [ids, hostIds] = [urlIdsOf(page.picked), hostIdsOf(page.picked)];
      return pageOf(
        page,
        ids.length === 0 ? [] : urls.all(JSON.stringify(ids)),
        hostIds.length === 0 ? [] : hosts.all(JSON.stringify(hostIds)),
      );
    },

    removeOldChanges: (...args) => write('removeOldChanges', ...args),
    currentListings: listings,
    currentDomain: domainState,
  };
}
