import { type ExportedRow, isWanted, toExported } from '../exported-url.ts';
import { PAGE_ROWS, pageOf, readPages } from '../pages.ts';
import { LAST_COLUMNS, LAST_JOINS } from '../record-rows.ts';
import type { ExportedUrl, ExportFilter } from '../store.ts';
import type { Query } from './replicas.ts';

const URLS = `
  select u.url_key, hosts.host, ${LAST_COLUMNS} from urls u ${LAST_JOINS} join hosts on hosts.id = u.host_id
  where u.url_key > $1 order by u.url_key limit ${PAGE_ROWS}`;

const BEFORE_ALL = new Uint8Array(0);

/** All URLs with what is newest of each, in order of key. */
export function createExportUrls(query: Query) {
  return (filter: ExportFilter, signal: AbortSignal): AsyncIterable<ExportedUrl[]> =>
    readPages<ExportedUrl, Uint8Array>(BEFORE_ALL, { limit: Number.POSITIVE_INFINITY, signal }, async (after) => {
      const { items, next } = pageOf(await query<ExportedRow>(URLS, [after], signal), toExported, ([key]) => key);
      return { items: items.filter((url) => isWanted(url, filter)), next };
    });
}
