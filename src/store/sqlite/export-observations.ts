import { createObservationExport, type ResolutionRow, type UrlFacts } from '../export-observations.ts';
import { PAGE_ROWS } from '../pages.ts';
import { EVENT_JOINS, PAYLOAD_COLUMNS, PAYLOAD_JOINS, type PayloadRow } from '../record-rows.ts';
import type { Store } from '../store.ts';
import { ENTRY_COLUMNS, type EntryRow } from '../timeline-change.ts';
import type { Database } from './database.ts';

const ENTRIES = `
  select ${ENTRY_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = ? and (e.ts, e.kind) > (?, ?) order by e.ts, e.kind limit ${PAGE_ROWS}`;

const RESOLUTIONS = `
  select ip, day, ts, asn from resolutions
  where url_id = ? and (ip, day) > (?, ?) order by ip, day limit ${PAGE_ROWS}`;

const PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS}
  where p.url_id = ? and (p.ts, p.file_id) > (?, ?) order by p.ts, p.file_id limit ${PAGE_ROWS}`;

export function createExportObservations(db: Database, exportUrls: Store['exportUrls']): Store['exportObservations'] {
  const entries = db.prepare<EntryRow>(ENTRIES);
  const resolutions = db.prepare<ResolutionRow>(RESOLUTIONS);
  const payloads = db.prepare<PayloadRow>(PAYLOADS);
  const facts: UrlFacts = {
    entries: (id, after) => entries.all(id, ...after),
    resolutions: (id, after) => resolutions.all(id, ...after),
    payloads: (id, after) => payloads.all(id, ...after),
  };
  return createObservationExport(exportUrls, () => facts);
}
