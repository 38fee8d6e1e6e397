import { advance, type Entry, isEvent, type StatusObservation } from '../../core/timeline.ts';
import { ENTRY_KINDS, OFFLINE_AGAIN_KIND } from '../entry-kind.ts';
import type { Database } from './database.ts';
import type { Dictionary } from './dictionary.ts';
import type { ImpliedChange } from './listed.ts';
import { EVENT_JOINS } from './read-url.ts';

export type EntryRow = [ts: number, kind: number, removal: string, reporter: string, confirmedTs: number | null];

export const ENTRY_COLUMNS = 'e.ts, e.kind, removals.reason, reporters.name, e.confirmed_ts';

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
    const before = readTail.all({ url: urlId, first: firstTs(observations, implied) }).map(toEntry);
    const after = advance(before, observations, implied === null ? undefined : implied.after);
    const kept = new Map(before.map((entry) => [keyOf(entry), entry]));
    let changed = 0;
    for (const entry of after) {
      const old = kept.get(keyOf(entry));
      kept.delete(keyOf(entry));
      if (old !== undefined && isSame(old, entry) && old.confirmedTs === entry.confirmedTs) continue;
      put.run(
        urlId,
        entry.ts,
        code(entry),
        hostId,
        removals.idOf(entry.removal),
        reporters.idOf(entry.reporter),
        entry.confirmedTs,
      );
      if (isEvent(entry) && (old === undefined || !isSame(old, entry))) changed++;
    }
    for (const gone of kept.values()) {
      remove.run(urlId, gone.ts, code(gone));
      if (isEvent(gone)) changed++;
    }
    const last = after.findLast(isEvent);
    if (changed > 0 && last !== undefined) {
      setLast.run(last.ts, code(last), removals.idOf(last.removal), reporters.idOf(last.reporter), urlId);
    } else if (after.length === 0) setLast.run(null, null, null, null, urlId);
    return changed;
  };
}

function firstTs(observations: readonly StatusObservation[], implied: ImpliedChange | null): number {
  const times = [observations[0]?.ts, implied?.before?.ts, implied?.after?.ts];
  return Math.min(...times.filter((ts) => ts !== undefined));
}

export function toEntry([ts, kind, removal, reporter, confirmedTs]: EntryRow): Entry {
  return { ts, kind: ENTRY_KINDS[kind] ?? 'added', removal, reporter, confirmedTs };
}

function code(entry: Entry): number {
  return ENTRY_KINDS.indexOf(entry.kind);
}

function keyOf(entry: Entry): string {
  return `${entry.ts} ${entry.kind}`;
}

function isSame(a: Entry, b: Entry): boolean {
  return a.removal === b.removal && a.reporter === b.reporter;
}
