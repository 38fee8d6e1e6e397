import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { ResolutionRow } from '../observation-export.ts';
import { EVENT_JOINS, PAYLOAD_COLUMNS, PAYLOAD_JOINS, type PayloadRow } from '../rows.ts';
import type { UrlStore } from '../store.ts';
import { ENTRY_COLUMNS, type EntryRow } from '../stored-timeline.ts';
import { createDetails } from '../url-details.ts';
import { urlKey } from '../url-group.ts';

const ID = 'select id from urls where url_key = ?';

const ENTRIES = `
  select ${ENTRY_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = ? and (e.ts, e.kind) < (?, ?) order by e.ts desc, e.kind desc limit ${PAGE_ROWS}`;

const PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS}
  where p.url_id = ? and (p.ts, p.file_id) < (?, ?) order by p.ts desc, p.file_id desc limit ${PAGE_ROWS}`;

const RESOLUTIONS = `
  select ip, day, ts, asn from resolutions
  where url_id = ? and (ip, day) > (?, ?) order by ip, day limit ${PAGE_ROWS}`;

const TAGS = `
  select tags.name from url_tags join tags on tags.id = url_tags.tag_id where url_tags.url_id = ? limit ${PAGE_ROWS}`;

/** What people want to know about one URL. */
export function createUrlDetails(db: Database): UrlStore['urlDetails'] {
  const ids = db.prepare<[number]>(ID);
  const entries = db.prepare<EntryRow>(ENTRIES);
  const payloads = db.prepare<PayloadRow>(PAYLOADS);
  const resolutions = db.prepare<ResolutionRow>(RESOLUTIONS);
  const tags = db.prepare<[string]>(TAGS);
  return createDetails({
    id: (url) => ids.get(urlKey(url))?.[0] ?? null,
    entries: (id, before) => entries.all(id, ...before),
    payloads: (id, before) => payloads.all(id, ...before),
    resolutions: (id, after) => resolutions.all(id, ...after),
    tags: (id) => tags.all(id),
  });
}
