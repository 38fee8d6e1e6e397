import type { Query } from '../../database/postgres/database.ts';
import { createReadTogether } from '../../database/postgres/read-together.ts';
import { MAX_TIES } from '../file-rules.ts';
import {
  comparePayloadRows,
  EVENT_COLUMNS,
  EVENT_JOINS,
  type EventRow,
  LAST_COLUMNS,
  LAST_JOINS,
  type LastRow,
  type Nullable,
  PAYLOAD_COLUMNS,
  PAYLOAD_JOINS,
  type PayloadRow,
  STATUS_COLUMNS,
  STATUS_JOINS,
  type StatusRow,
  toPayload,
} from '../rows.ts';
import { FIRST_HIDDEN_KIND, type UrlStore } from '../store.ts';
import { urlKey } from '../url-group.ts';
import {
  addRecord,
  eventTail,
  historyJson,
  type Json,
  lastJson,
  lastStatusJson,
  NULL,
  type OpenArray,
  payloadTail,
  recordJson,
  statusJson,
  toJson,
} from '../wire.ts';

// A test checks the plan of every statement that this file exports (test/database/postgres-server.test.ts).

export const ID = 'select id from urls where url_key = $1';

/** `place`: of the key in the array, from 1. */
const OF_KEYS = 'from unnest($1::bytea[]) with ordinality as k (key, place) join urls u on u.url_key = k.key';

export const LAST_OF_MANY = `select k.place, ${LAST_COLUMNS} ${OF_KEYS} ${LAST_JOINS}`;

export const STATUS_OF_MANY = `select k.place, ${STATUS_COLUMNS} ${OF_KEYS} ${STATUS_JOINS}`;

export const LAST = `select ${LAST_COLUMNS} from urls u ${LAST_JOINS} where u.url_key = $1`;

// These two look up the URL themselves, so that all three statements of a history are sent together.
export const NEWEST_EVENTS = `
  select ${EVENT_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = (${ID}) and e.kind < ${FIRST_HIDDEN_KIND} order by e.ts desc, e.kind desc limit $2`;

export const NEWEST_PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from (
    select * from payloads where url_id = (${ID}) order by ts desc fetch first $2 rows with ties) p
  ${PAYLOAD_JOINS}
  order by p.ts desc limit $2 + ${MAX_TIES}`;

export const HAS = 'select 1 from urls where id = $1';

/** The lookups of one URL. */
export function createLookup(
  query: Query,
): Pick<UrlStore, 'urlId' | 'urlLast' | 'lastOfMany' | 'urlHistory' | 'hasUrl'> {
  return {
    async urlId(url) {
      const [row] = await query<[number]>(ID, [urlKey(url)]);
      return row?.[0] ?? null;
    },

    urlLast: createReadLast(query),

    async lastOfMany(urls, view) {
      const keys = urls.map(urlKey);
      if (view === 'last') return readLast(query, keys);
      const found: (Json | null)[] = urls.map(() => null);
      const rows = await query<[place: number, ...StatusRow]>(STATUS_OF_MANY, [keys]);
      for (const [place, ...row] of rows) found[place - 1] = lastStatusOf(row);
      return found;
    },

    async urlHistory(url, limit) {
      const key = urlKey(url);
      const [[row], events, payloads] = await Promise.all([
        query<[number]>(ID, [key]),
        query<EventRow>(NEWEST_EVENTS, [key, limit]),
        query<PayloadRow>(NEWEST_PAYLOADS, [key, limit]),
      ]);
      if (row === undefined) return null;
      const newest = payloads.sort((a, b) => comparePayloadRows(b, a)).slice(0, limit);
      return historyJson(row[0], url, events.reduce(addEvent, ''), newest.reduce(addPayload, ''));
    },

    async hasUrl(id) {
      return (await query(HAS, [id])).length > 0;
    },
  };
}

/**
 * Reads the URLs of all requests of one iteration of the event loop with one statement, which takes two thirds of the CPU
 * time of one statement each (docs/decisions/reads.md). A single lookup does not wait.
 */
function createReadLast(query: Query): (url: string) => Promise<Json | null> {
  const readTogether = createReadTogether((keys: readonly Uint8Array[]) => readLast(query, keys));
  return (url) => readTogether(urlKey(url));
}

async function readLast(query: Query, keys: readonly Uint8Array[]): Promise<(Json | null)[]> {
  const [key] = keys;
  if (keys.length === 1 && key !== undefined) {
    const [row] = await query<LastRow>(LAST, [key]);
    return [row === undefined ? null : lastOf(row)];
  }
  const found: (Json | null)[] = keys.map(() => null);
  const rows = await query<[place: number, ...LastRow]>(LAST_OF_MANY, [keys]);
  for (const [place, ...row] of rows) found[place - 1] = lastOf(row);
  return found;
}

function lastOf([id, url, ts, kind, removal, reporter, ...payload]: LastRow): Json {
  const status = statusOf([ts, kind, removal, reporter]);
  return lastJson(id, url, status, payload[0] === null ? NULL : payloadOf(payload as PayloadRow));
}

function lastStatusOf([id, url, ...event]: StatusRow): Json {
  return lastStatusJson(id, url, statusOf(event));
}

function statusOf([ts, kind, removal, reporter]: Nullable<EventRow>): Json {
  return ts === null ? NULL : statusJson(ts, kind as number, toJson(removal), toJson(reporter));
}

function payloadOf(row: PayloadRow): Json {
  const payload = toPayload(row);
  return recordJson(payload.ts, payloadTail(payload, toJson(payload.family)));
}

function addEvent(list: OpenArray, [ts, kind, removal, reporter]: EventRow): OpenArray {
  return addRecord(list, ts, eventTail(kind, toJson(removal), toJson(reporter)));
}

function addPayload(list: OpenArray, row: PayloadRow): OpenArray {
  const payload = toPayload(row);
  return addRecord(list, payload.ts, payloadTail(payload, toJson(payload.family)));
}
