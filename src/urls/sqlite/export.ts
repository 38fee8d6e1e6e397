import { PAGE_ROWS, pageOf, readPages } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import { createObservationExport, type ResolutionRow, type UrlRows } from '../observation-export.ts';
import {
  CONFIRMED_COLUMN,
  type DetailedRow,
  EVENT_JOINS,
  type ExportedRow,
  LAST_COLUMNS,
  LAST_JOINS,
  MAX_FAMILY_NAMES,
  matchesFilter,
  PAYLOAD_COLUMNS,
  PAYLOAD_JOINS,
  type PayloadRow,
  toDetailed,
  toExported,
} from '../rows.ts';
import type { ExportedUrl, ExportFilter, UrlStore } from '../store.ts';
import { ENTRY_COLUMNS, type EntryRow } from '../stored-timeline.ts';
import { createTagsOf } from './tags.ts';

const URLS = `
  select u.url_key, hosts.host, ${LAST_COLUMNS} from urls u ${LAST_JOINS} join hosts on hosts.id = u.host_id
  where u.url_key > ? order by u.url_key limit ${PAGE_ROWS}`;

const NEWEST_TS = '(select max(ts) from resolutions where url_id = u.id)';

/** Two aggregates, because no statement of this store sorts (`sqlite-statements.test.ts`). */
const DETAILED_URLS = `
  select ${CONFIRMED_COLUMN}, r.ip, r.asn, u.url_key, hosts.host, ${LAST_COLUMNS} from urls u ${LAST_JOINS}
  join hosts on hosts.id = u.host_id
  left join resolutions r on r.url_id = u.id and r.ts = ${NEWEST_TS}
    and r.ip = (select min(ip) from resolutions where url_id = u.id and ts = ${NEWEST_TS})
  where u.url_key > ? order by u.url_key limit ${PAGE_ROWS}`;

const BEFORE_ALL = new Uint8Array(0);

/** All URLs, each with its newest event and payload, in order of key. */
export function createExportUrls(db: Database): UrlStore['exportUrls'] {
  const urls = db.prepare<ExportedRow>(URLS);
  const detailedUrls = db.prepare<DetailedRow>(DETAILED_URLS);
  const tagsOf = createTagsOf(db);

  return (filter: ExportFilter, signal: AbortSignal, isDetailed = false): AsyncIterable<ExportedUrl[]> =>
    readPages<ExportedUrl, Uint8Array>(BEFORE_ALL, { limit: Number.POSITIVE_INFINITY, signal }, (after) => {
      const { items, next } = isDetailed
        ? pageOf(
            detailedUrls.all(after),
            (row) => toDetailed(row, tagsOf(row[5])),
            ([, , , key]) => key,
          )
        : pageOf(
            urls.all(after),
            (row) => toExported(row, tagsOf(row[2])),
            ([key]) => key,
          );
      return { items: items.filter((url) => matchesFilter(url, filter)), next };
    });
}

const ENTRIES = `
  select ${ENTRY_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = ? and (e.ts, e.kind) > (?, ?) order by e.ts, e.kind limit ${PAGE_ROWS}`;

const RESOLUTIONS = `
  select ip, day, ts, asn from resolutions
  where url_id = ? and (ip, day) > (?, ?) order by ip, day limit ${PAGE_ROWS}`;

const PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS}
  where p.url_id = ? and (p.ts, p.file_id) > (?, ?) order by p.ts, p.file_id limit ${PAGE_ROWS}`;

export function createExportObservations(
  db: Database,
  exportUrls: UrlStore['exportUrls'],
): UrlStore['exportObservations'] {
  const entries = db.prepare<EntryRow>(ENTRIES);
  const resolutions = db.prepare<ResolutionRow>(RESOLUTIONS);
  const payloads = db.prepare<PayloadRow>(PAYLOADS);
  const rows: UrlRows = {
    entries: (id, after) => entries.all(id, ...after),
    resolutions: (id, after) => resolutions.all(id, ...after),
    payloads: (id, after) => payloads.all(id, ...after),
  };
  return createObservationExport(exportUrls, () => rows);
}

const FAMILY_NAMES = `select name from families order by id limit ${MAX_FAMILY_NAMES}`;

export function createFamilyNames(db: Database): UrlStore['familyNames'] {
  const names = db.prepare<[string]>(FAMILY_NAMES);
  return async () => names.all().map(([name]) => name);
}
