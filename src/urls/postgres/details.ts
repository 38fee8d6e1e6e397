import { PAGE_ROWS } from '../../database/pages.ts';
import type { Query } from '../../database/postgres/database.ts';
import { EVENT_JOINS, PAYLOAD_COLUMNS, PAYLOAD_JOINS } from '../rows.ts';
import type { UrlStore } from '../store.ts';
import { ENTRY_COLUMNS } from '../stored-timeline.ts';
import { createDetails } from '../url-details.ts';
import { urlKey } from '../url-group.ts';

// A test checks the plan of every statement that this file exports (test/database/postgres-server.test.ts).

export const ID = 'select id from urls where url_key = $1';

export const ENTRIES = `
  select ${ENTRY_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = $1 and (e.ts, e.kind) < ($2, $3) order by e.ts desc, e.kind desc limit ${PAGE_ROWS}`;

export const PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS}
  where p.url_id = $1 and (p.ts, p.file_id) < ($2, $3) order by p.ts desc, p.file_id desc limit ${PAGE_ROWS}`;

export const RESOLUTIONS = `
  select ip, day, ts, asn from resolutions
  where url_id = $1 and (ip, day) > ($2, $3) order by ip, day limit ${PAGE_ROWS}`;

export const TAGS = `
  select (select name from tags where id = tag_id) from url_tags where url_id = $1 limit ${PAGE_ROWS}`;

/** What people want to know about one URL. */
export function createUrlDetails(query: Query): UrlStore['urlDetails'] {
  return createDetails({
    id: async (url) => (await query<[number]>(ID, [urlKey(url)]))[0]?.[0] ?? null,
    entries: (id, before) => query(ENTRIES, [id, ...before]),
    payloads: (id, before) => query(PAYLOADS, [id, ...before]),
    resolutions: (id, after) => query(RESOLUTIONS, [id, ...after]),
    tags: (id) => query(TAGS, [id]),
  });
}
