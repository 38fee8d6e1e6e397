import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import {
  createUrlStreams,
  EVENT_COLUMNS,
  EVENT_JOINS,
  type EventRow,
  PAYLOAD_COLUMNS,
  PAYLOAD_JOINS,
  type PayloadRow,
} from '../rows.ts';

// Hidden entries are read too and filtered out afterwards: with a filter here one statement could skip many rows.
const STATUSES = `
  select ${EVENT_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = ? and e.ts >= ? and (e.ts, e.kind) < (?, ?)
  order by e.ts desc, e.kind desc limit ${PAGE_ROWS}`;

const PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS}
  where p.url_id = ? and (p.ts, p.file_id) < (?, ?)
  order by p.ts desc, p.file_id desc limit ${PAGE_ROWS}`;

/** The newest records of one URL, page by page. */
export function createStreams(db: Database) {
  const statuses = db.prepare<EventRow>(STATUSES);
  const payloads = db.prepare<PayloadRow>(PAYLOADS);
  return createUrlStreams({
    statuses: (id, since, before) => statuses.all(id, since, ...before),
    payloads: (id, before) => payloads.all(id, ...before),
  });
}
