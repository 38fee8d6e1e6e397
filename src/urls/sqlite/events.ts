import type { StatusObservation } from '../../core/observation.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import { EVENT_JOINS } from '../rows.ts';
import {
  ENTRY_COLUMNS,
  type EntryRow,
  firstChangeTs,
  kindCode,
  OFFLINE_AGAIN_KIND,
  type TimelineChange,
  timelineChange,
  toEntry,
} from '../stored-timeline.ts';
import type { Entry, ImpliedChange } from '../timeline.ts';

type EntryDictionaries = Pick<Dictionaries, 'reporters' | 'removals'>;

// The entries from the last ts before the first change on, ignoring a hidden implied offline, as `advance` requires:
// usually one or two rows.
const TAIL = `
  select ${ENTRY_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = ?1 and e.ts >= coalesce((
    select max(ts) from events
    where url_id = ?1 and ts < ?2 and (kind < ${OFFLINE_AGAIN_KIND} or confirmed_ts is not null)), 0)
  order by e.ts, e.kind`;

const DELETE = 'delete from events where url_id = ? and ts = ? and kind = ?';

const SET_LAST = `
  update urls set event_ts = ?, event_kind = ?, event_removal_id = ?, event_reporter_id = ? where id = ?`;

/** The entries that were written, how many events changed, and the newest event then. */
type StatusChange = Omit<TimelineChange, 'deletes'>;

const NO_CHANGE: StatusChange = {
  upserts: [],
  eventsChanged: 0,
  last: undefined,
  isLastChanged: false,
  isSeenAgain: false,
};

/** Applies observations and an implied offline to the timeline of a known URL. */
export function createApplyStatus(db: Database, dictionaries: EntryDictionaries) {
  const readTail = db.prepare<EntryRow>(TAIL);
  const remove = db.prepare(DELETE);
  const putEntry = createPutEntry(db, dictionaries);
  const setLast = db.prepare(SET_LAST);

  return (
    urlId: number,
    hostId: number,
    observations: readonly StatusObservation[],
    implied: ImpliedChange | null = null,
  ): StatusChange => {
    if (observations.length === 0 && implied === null) return NO_CHANGE;
    const before = readTail.all(urlId, firstChangeTs(observations, implied)).map(toEntry);
    const { deletes, ...change } = timelineChange(before, observations, implied);
    const { upserts, last } = change;
    for (const entry of upserts) putEntry(urlId, hostId, entry);
    for (const entry of deletes) remove.run(urlId, entry.ts, kindCode(entry));
    if (last !== undefined) setLast.run(...lastColumns(last, dictionaries), urlId);
    return change;
  };
}

const PUT_ENTRY = `
  insert into events (url_id, ts, kind, host_id, removal_id, reporter_id, confirmed_ts) values (?, ?, ?, ?, ?, ?, ?)
  on conflict do update set
    removal_id = excluded.removal_id, reporter_id = excluded.reporter_id, confirmed_ts = excluded.confirmed_ts`;

/** Writes one entry of a timeline. */
function createPutEntry(db: Database, { reporters, removals }: EntryDictionaries) {
  const put = db.prepare(PUT_ENTRY);
  return (urlId: number, hostId: number, entry: Entry): void => {
    const { ts, removal, reporter, confirmedTs } = entry;
    put.run(urlId, ts, kindCode(entry), hostId, removals.idOf(removal), reporters.idOf(reporter), confirmedTs);
  };
}

/** Most new URLs have two. */
const MAX_AT_ONCE = 3;
const COLUMNS_OF_ENTRY = 5;

const addEntries = (count: number): string => {
  const at = (i: number) => Array.from({ length: COLUMNS_OF_ENTRY }, (_, j) => `?${3 + i * COLUMNS_OF_ENTRY + j}`);
  const rows = Array.from({ length: count }, (_, i) => `(?1, ?2, ${at(i).join()})`);
  return `
    insert into events (url_id, host_id, ts, kind, removal_id, reporter_id, confirmed_ts) values ${rows.join()}`;
};

/** Writes the timeline of a new URL. */
export function createAddTimeline(db: Database, { reporters, removals }: EntryDictionaries) {
  const adds = Array.from({ length: MAX_AT_ONCE }, (_, i) => db.prepare(addEntries(i + 1)));
  return (urlId: number, hostId: number, timeline: readonly Entry[]): void => {
    for (let at = 0; at < timeline.length; at += MAX_AT_ONCE) {
      const values: (number | null)[] = [urlId, hostId];
      const count = Math.min(timeline.length - at, MAX_AT_ONCE);
      for (let i = at; i < at + count; i++) {
        const entry = timeline[i] as Entry;
        const { ts, removal, reporter, confirmedTs } = entry;
        values.push(ts, kindCode(entry), removals.idOf(removal), reporters.idOf(reporter), confirmedTs);
      }
      adds[count - 1]?.run(...values);
    }
  };
}

/** The columns of the newest event in `urls`. */
type LastColumns = [ts: number | null, kind: number | null, removalId: number | null, reporterId: number | null];

export function lastColumns(last: Entry | null | undefined, { reporters, removals }: EntryDictionaries): LastColumns {
  if (!last) return [null, null, null, null];
  return [last.ts, kindCode(last), removals.idOf(last.removal), reporters.idOf(last.reporter)];
}
