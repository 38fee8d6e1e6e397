import type { Payload, StatusEvent } from '../../core/records.ts';
import type { Window } from '../../core/window.ts';
import { FIRST_HIDDEN_KIND } from '../entry-kind.ts';
import { PAGE_ROWS, pageOf, readPages } from '../pages.ts';
import {
  EVENT_COLUMNS,
  EVENT_JOINS,
  type EventRow,
  PAYLOAD_COLUMNS,
  PAYLOAD_JOINS,
  type PayloadRow,
  toEvent,
  toPayload,
} from '../record-rows.ts';
import type { Bounds } from '../store.ts';
import type { Database } from './database.ts';

// Hidden entries are read too and dropped afterwards: leaving them out here could make one statement pass over many.
const STATUSES = `
  select ${EVENT_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = ? and e.ts >= ? and (e.ts, e.kind) < (?, ?)
  order by e.ts desc, e.kind desc limit ${PAGE_ROWS}`;

const PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS}
  where p.url_id = ? and (p.ts, p.file_id) < (?, ?)
  order by p.ts desc, p.file_id desc limit ${PAGE_ROWS}`;

type EventKey = [ts: number, kind: number];
type PayloadKey = [ts: number, fileId: number];

/** The newest records of one URL, page by page. */
export function createReadStreams(db: Database) {
  const statusPage = db.prepare<EventRow>(STATUSES);
  const payloadPage = db.prepare<PayloadRow>(PAYLOADS);

  return {
    statuses(id: number, { since, until }: Window, bounds: Bounds): AsyncIterable<StatusEvent[]> {
      return readPages<StatusEvent, EventKey>([until + 1, 0], bounds, (key) => {
        const rows = statusPage.all(id, since, ...key);
        const page = pageOf(rows, toEvent, ([ts, kind]): EventKey => [ts, kind]);
        return { ...page, items: page.items.filter((_, i) => (rows[i]?.[1] ?? 0) < FIRST_HIDDEN_KIND) };
      });
    },

    payloads(id: number, bounds: Bounds): AsyncIterable<Payload[]> {
      return readPages<Payload, PayloadKey>([Number.MAX_SAFE_INTEGER, 0], bounds, (key) =>
        pageOf(payloadPage.all(id, ...key), toPayload, ([ts, fileId]): PayloadKey => [ts, fileId]),
      );
    },
  };
}
