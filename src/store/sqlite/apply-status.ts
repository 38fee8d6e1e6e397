import type { StatusObservation } from '../../core/timeline.ts';
import { OFFLINE_AGAIN_KIND } from '../entry-kind.ts';
import type { ImpliedChange } from '../implied.ts';
import { EVENT_JOINS } from '../record-rows.ts';
import { ENTRY_COLUMNS, type EntryRow, firstChangeTs, kindCode, timelineChange, toEntry } from '../timeline-change.ts';
import type { Database } from './database.ts';
import { createPutEntry, type EntryDictionaries, lastColumns } from './put-entry.ts';

// From the last time before the first change on, passing over an implied offline that is hidden, as `advance` asks:
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

/** Writes what the observations of a known URL change in its timeline; returns how many events a caller sees changed. */
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
  ): number => {
    if (observations.length === 0 && implied === null) return 0;
    const before = readTail.all(urlId, firstChangeTs(observations, implied)).map(toEntry);
    const { put, gone, eventsChanged, last } = timelineChange(before, observations, implied);
    for (const entry of put) putEntry(urlId, hostId, entry);
    for (const entry of gone) remove.run(urlId, entry.ts, kindCode(entry));
    if (last !== undefined) setLast.run(...lastColumns(last, dictionaries), urlId);
    return eventsChanged;
  };
}
