import { PAGE_ROWS } from '../../database/pages.ts';
import type { Query } from '../../database/postgres/database.ts';
import { createUrlStreams, EVENT_COLUMNS, EVENT_JOINS, PAYLOAD_COLUMNS, PAYLOAD_JOINS } from '../rows.ts';

// A test checks the plan of every statement that this file exports (test/database/postgres-server.test.ts).

// Hidden entries are read too and filtered out afterwards: with a filter here one statement could skip many rows.
export const STATUSES = `
  select ${EVENT_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = $1 and e.ts >= $2 and (e.ts, e.kind) < ($3, $4)
  order by e.ts desc, e.kind desc limit ${PAGE_ROWS}`;

export const PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS}
  where p.url_id = $1 and (p.ts, p.file_id) < ($2, $3)
  order by p.ts desc, p.file_id desc limit ${PAGE_ROWS}`;

/** The newest records of one URL, page by page. */
export function createStreams(query: Query) {
  return createUrlStreams({
    statuses: (id, since, before, signal) => query(STATUSES, [id, since, ...before], signal),
    payloads: (id, before, signal) => query(PAYLOADS, [id, ...before], signal),
  });
}
