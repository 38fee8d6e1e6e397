import { PAGE_ROWS, pageOf, readPages } from '../../database/pages.ts';
import type { Query } from '../../database/postgres/database.ts';
import { createFirstPages } from '../../database/postgres/first-pages.ts';
import {
  createObservationExport,
  FIRST_ENTRY,
  FIRST_PAYLOAD,
  FIRST_RESOLUTION,
  type ResolutionKey,
  type ResolutionRow,
} from '../observation-export.ts';
import {
  CONFIRMED_COLUMN,
  type DetailedRow,
  type EntryKey,
  EVENT_JOINS,
  type ExportedRow,
  LAST_COLUMNS,
  LAST_JOINS,
  MAX_FAMILY_NAMES,
  matchesFilter,
  PAYLOAD_COLUMNS,
  PAYLOAD_JOINS,
  type PayloadKey,
  type PayloadRow,
  toDetailed,
  toExported,
} from '../rows.ts';
import type { ExportedUrl, ExportFilter, UrlStore } from '../store.ts';
import { ENTRY_COLUMNS, type EntryRow } from '../stored-timeline.ts';
import { tagsOf } from './tags.ts';

const URLS = `
  select u.url_key, hosts.host, ${LAST_COLUMNS} from urls u ${LAST_JOINS} join hosts on hosts.id = u.host_id
  where u.url_key > $1 order by u.url_key limit ${PAGE_ROWS}`;

const DETAILED_URLS = `
  select ${CONFIRMED_COLUMN}, r.ip, r.asn, u.url_key, hosts.host, ${LAST_COLUMNS} from urls u ${LAST_JOINS}
  join hosts on hosts.id = u.host_id
  left join lateral (
    select ip, asn from resolutions where url_id = u.id order by ts desc, ip limit 1) r on true
  where u.url_key > $1 order by u.url_key limit ${PAGE_ROWS}`;

const BEFORE_ALL = new Uint8Array(0);

/** All URLs, each with its newest event and payload, in order of key. */
export function createExportUrls(query: Query): UrlStore['exportUrls'] {
  return (filter: ExportFilter, isDetailed = false): AsyncIterable<ExportedUrl[]> =>
    readPages<ExportedUrl, Uint8Array>(BEFORE_ALL, {}, async (after) => {
      const rows = isDetailed
        ? await query<DetailedRow>(DETAILED_URLS, [after])
        : (await query<ExportedRow>(URLS, [after])).map((row): DetailedRow => [null, null, null, ...row]);
      const tags = await tagsOf(
        query,
        rows.map(([, , , , , id]) => id),
      );
      const namesOf = (id: number) => (tags.get(id) ?? []).map(([, name]) => name);
      const exportedOf = (row: DetailedRow) => {
        const [, , , ...last] = row;
        return isDetailed ? toDetailed(row, namesOf(row[5])) : toExported(last, namesOf(row[5]));
      };
      const { items, next } = pageOf(rows, exportedOf, ([, , , key]) => key);
      return { items: items.filter((url) => matchesFilter(url, filter)), next };
    });
}

// For several URLs, the rows of each after a key.

const ENTRIES = `
  select u.id, ${ENTRY_COLUMNS} from unnest($1::bigint[]) as u (id) cross join lateral (
    select * from events where url_id = u.id and (ts, kind) > ($2, $3) order by ts, kind limit ${PAGE_ROWS}) e
  ${EVENT_JOINS} order by u.id, e.ts, e.kind`;

const RESOLUTIONS = `
  select u.id, r.ip, r.day, r.ts, r.asn from unnest($1::bigint[]) as u (id) cross join lateral (
    select * from resolutions where url_id = u.id and (ip, day) > ($2, $3) order by ip, day limit ${PAGE_ROWS}) r
  order by u.id, r.ip, r.day`;

const PAYLOADS = `
  select u.id, ${PAYLOAD_COLUMNS} from unnest($1::bigint[]) as u (id) cross join lateral (
    select * from payloads where url_id = u.id and (ts, file_id) > ($2, $3) order by ts, file_id limit ${PAGE_ROWS}) p
  ${PAYLOAD_JOINS} order by u.id, p.ts, p.file_id`;

/** All stored data, as observations. */
export function createExportObservations(
  query: Query,
  exportUrls: UrlStore['exportUrls'],
): UrlStore['exportObservations'] {
  return createObservationExport(exportUrls, (urls) => {
    const pages = createFirstPages(
      query,
      urls.map(({ id }) => id),
    );
    return {
      entries: pages<EntryRow, EntryKey>(ENTRIES, FIRST_ENTRY),
      resolutions: pages<ResolutionRow, ResolutionKey>(RESOLUTIONS, FIRST_RESOLUTION),
      payloads: pages<PayloadRow, PayloadKey>(PAYLOADS, FIRST_PAYLOAD),
    };
  });
}

const FAMILY_NAMES = `select name from families order by id limit ${MAX_FAMILY_NAMES}`;

export function createFamilyNames(query: Query): UrlStore['familyNames'] {
  return async () => (await query<[string]>(FAMILY_NAMES)).map(([name]) => name);
}
