import type { StatusEvent, UrlHistory } from '../../core/records.ts';
import { FIRST_HIDDEN_KIND } from '../entry-kind.ts';
import { byTimeAndKey, PAYLOAD_COLUMNS, PAYLOAD_JOINS, type PayloadRow, toEvent, toPayload } from '../record-rows.ts';
import { urlKey } from '../url-key.ts';
import type { Database } from './database.ts';
import { createNames } from './names.ts';
import { createReadLast } from './read-last.ts';

const ID = 'select id from urls where url_key = ?';

const NEWEST_EVENTS = `
  select e.ts, e.kind, e.removal_id, e.reporter_id from events e
  where e.url_id = ? and e.kind < ${FIRST_HIDDEN_KIND} order by e.ts desc, e.kind desc limit ?`;

const NEWEST_PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS}
  where p.url_id = ? order by p.ts desc, p.file_id desc limit ?`;

// At most so many of one time are put in order: more files from one URL in one second come in any order.
const PAYLOADS_OF_TIME = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS} where p.url_id = ? and p.ts = ? limit 1000`;

const HAS = 'select 1 from urls where id = ?';

/** The reads that answer about one URL. */
export function createReadUrl(db: Database) {
  const id = db.prepare<[number]>(ID);
  const newestEvents = db.prepare<[ts: number, kind: number, removalId: number, reporterId: number]>(NEWEST_EVENTS);
  const removals = createNames(db, 'removals', 'reason');
  const reporters = createNames(db, 'reporters', 'name');
  const newestPayloads = db.prepare<PayloadRow>(NEWEST_PAYLOADS);
  const payloadsOfTime = db.prepare<PayloadRow>(PAYLOADS_OF_TIME);
  const has = db.prepare<[1]>(HAS);

  function eventsOf(urlId: number, limit: number): StatusEvent[] {
    return newestEvents
      .all(urlId, limit)
      .map(([ts, kind, removalId, reporterId]) => toEvent([ts, kind, removals(removalId), reporters(reporterId)]));
  }

  /** At equal times the greater key first, as in `urlLast`, whichever came first. */
  function payloadsOf(urlId: number, limit: number): PayloadRow[] {
    const rows = newestPayloads.all(urlId, limit);
    const oldest = rows.length < limit ? undefined : rows.at(-1)?.[0];
    if (oldest === undefined) return rows.sort(byTimeAndKey);
    const newer = rows.filter(([ts]) => ts > oldest);
    return [...newer, ...payloadsOfTime.all(urlId, oldest)].sort(byTimeAndKey).slice(0, limit);
  }

  return {
    urlId(url: string): number | null {
      return id.get(urlKey(url))?.[0] ?? null;
    },

    urlLast: createReadLast(db),

    async urlHistory(url: string, limit: number): Promise<UrlHistory | null> {
      const urlId = id.get(urlKey(url))?.[0];
      if (urlId === undefined) return null;
      return {
        id: urlId,
        url,
        events: eventsOf(urlId, limit),
        payloads: payloadsOf(urlId, limit).map(toPayload),
      };
    },

    async hasUrl(urlId: number): Promise<boolean> {
      return has.get(urlId) !== undefined;
    },
  };
}
