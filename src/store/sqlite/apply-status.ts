import type { StatusObservation } from '../../core/timeline.ts';
import { OFFLINE_AGAIN_KIND } from '../entry-kind.ts';
import type { ImpliedChange } from '../implied.ts';
import { EVENT_JOINS } from '../record-rows.ts';
import { ENTRY_COLUMNS, type EntryRow, firstChangeTs, kindCode, timelineChange, toEntry } from '../timeline-change.ts';
import type { Database } from './database.ts';
import type { Dictionary } from './dictionary.ts';

// From the last time before the first change on, passing over an implied offline that is hidden, as `advance` asks:
// usually one or two rows.
const TAIL = `
  select ${ENTRY_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = :url and e.ts >= coalesce((
    select max(ts) from events
    where url_id = :url and ts < :first and (kind < ${OFFLINE_AGAIN_KIND} or confirmed_ts is not null)), 0)
  order by e.ts, e.kind`;

const DELETE = 'delete from events where url_id = ? and ts = ? and kind = ?';

const PUT = `
  insert into events (url_id, ts, kind, host_id, removal_id, reporter_id, confirmed_ts) values (?, ?, ?, ?, ?, ?, ?)
  on conflict do update set
    removal_id = excluded.removal_id, reporter_id = excluded.reporter_id, confirmed_ts = excluded.confirmed_ts`;

const SET_LAST = `
  update urls set event_ts = ?, event_kind = ?, event_removal_id = ?, event_reporter_id = ? where id = ?`;

/** Writes what the observations of one URL change in its timeline; returns how many events a caller sees changed. */
export function createApplyStatus(db: Database, dictionaries: { reporters: Dictionary; removals: Dictionary }) {
  const { reporters, removals } = dictionaries;
  const readTail = db.prepare<EntryRow>(TAIL);
  const remove = db.prepare(DELETE);
  const put = db.prepare(PUT);
  const setLast = db.prepare(SET_LAST);

  return (
    urlId: number,
    hostId: number,
    observations: readonly StatusObservation[],
    implied: ImpliedChange | null = null,
  ): number => {
    if (observations.length === 0 && implied === null) return 0;
    const before = readTail.all({ url: urlId, first: firstChangeTs(observations, implied) }).map(toEntry);
    const { put: entries, gone, eventsChanged, last } = timelineChange(before, observations, implied);
    for (const entry of entries) {
      put.run(
        urlId,
        entry.ts,
        kindCode(entry),
        hostId,
        removals.idOf(entry.removal),
        reporters.idOf(entry.reporter),
        entry.confirmedTs,
      );
    }
    for (const entry of gone) remove.run(urlId, entry.ts, kindCode(entry));
    if (last === null) setLast.run(null, null, null, null, urlId);
    else if (last !== undefined) {
      setLast.run(last.ts, kindCode(last), removals.idOf(last.removal), reporters.idOf(last.reporter), urlId);
    }
    return eventsChanged;
  };
}
