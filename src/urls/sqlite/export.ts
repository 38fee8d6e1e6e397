import { PAGE_ROWS, pageOf, readPages } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import { createObservationExport, type ResolutionRow, type UrlRows } from '../observation-export.ts';
import {
  CONFIRMED_COLUMN,
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

const urlsWith = (columns: string) => `
  select ${columns} u.url_key, hosts.host, ${LAST_COLUMNS} from urls u ${LAST_JOINS} join hosts on hosts.id = u.host_id
  where u.url_key > ? order by u.url_key limit ${PAGE_ROWS}`;

const URLS = urlsWith('');

const CONFIRMED_URLS = urlsWith(`${CONFIRMED_COLUMN},`);

/**
 * Of several addresses at the newest time the smallest. A statement of its own: as a join of the page, the newest time is
 * searched for every address, and a URL with 10,000 took 7 s.
 */
const NEWEST_ADDRESS = `
  select ip, asn from resolutions
  where url_id = ?1 and ts = (select max(ts) from resolutions where url_id = ?1) order by ip limit 1`;

type ConfirmedRow = [confirmedTs: number | null, ...ExportedRow];

const BEFORE_ALL = new Uint8Array(0);

/** All URLs, each with its newest event and payload, in order of key. */
export function createExportUrls(db: Database): UrlStore['exportUrls'] {
  const urls = db.prepare<ExportedRow>(URLS);
  const confirmedUrls = db.prepare<ConfirmedRow>(CONFIRMED_URLS);
  const newestAddress = db.prepare<[ip: Uint8Array, asn: number | null]>(NEWEST_ADDRESS);
  const tagsOf = createTagsOf(db);

  function detailedOf([confirmedTs, ...row]: ConfirmedRow): ExportedUrl {
    const [ip, asn] = newestAddress.get(row[2]) ?? [null, null];
    return toDetailed([confirmedTs, ip, asn, ...row], tagsOf(row[2]));
  }

  return (filter: ExportFilter, isDetailed = false): AsyncIterable<ExportedUrl[]> =>
    readPages<ExportedUrl, Uint8Array>(BEFORE_ALL, {}, (after) => {
      const { items, next } = isDetailed
        ? pageOf(confirmedUrls.all(after), detailedOf, ([, key]) => key)
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
