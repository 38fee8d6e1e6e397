import type { StatusObservation } from '../../core/observation.ts';
import type { Scalar } from '../../database/postgres/array-literal.ts';
import type { Session } from '../../database/postgres/database.ts';
import { asGiven, columns, runRows, unnested } from '../../database/postgres/parameters.ts';
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

/** New observations and a new implied offline of a URL whose row is locked, or is added by this transaction. */
export type StatusUpdate = {
  id: number;
  hostId: number;
  isNew: boolean;
  statuses: readonly StatusObservation[];
  implied: ImpliedChange | null;
};

/** The ids of all texts that an entry may have; `statusChanges` adds those of the entries that it reads. */
type EntryIds = { reporters: Map<string, number>; removals: Map<string, number> };

type TailRow = [urlId: number, removalId: number, reporterId: number, ...EntryRow];

// For each URL the entries from the last ts before the first change on, ignoring a hidden implied offline, as `advance`
// requires: usually one or two rows. `offset 0` makes PostgreSQL run one lookup per URL.
const TAILS = `
  select e.url_id, e.removal_id, e.reporter_id, ${ENTRY_COLUMNS}
  from unnest($1::bigint[], $2::bigint[]) as u (id, first_ts)
  cross join lateral (
    select * from events where url_id = u.id and ts >= coalesce((
      select max(ts) from events
      where url_id = u.id and ts < u.first_ts and (kind < ${OFFLINE_AGAIN_KIND} or confirmed_ts is not null)), 0)
    offset 0) e
  ${EVENT_JOINS}
  order by e.url_id, e.ts, e.kind`;

/** Reads the ends of timelines and returns their changes by URL. */
export async function statusChanges(session: Session, updates: readonly StatusUpdate[], ids: EntryIds) {
  const changes = new Map<number, TimelineChange>();
  const changing = updates.filter(({ statuses, implied }) => statuses.length > 0 || implied !== null);
  if (changing.length === 0) return changes;
  const first = columns(2, changing, ({ id, statuses, implied }) => [id, firstChangeTs(statuses, implied)]);
  const rows = await session.query<TailRow>(TAILS, first);
  for (const [, removalId, reporterId, , , removal, reporter] of rows) {
    ids.removals.set(removal, removalId);
    ids.reporters.set(reporter, reporterId);
  }
  const tails = Map.groupBy(rows, ([urlId]) => urlId);
  for (const { id, statuses, implied } of changing) {
    const tail = (tails.get(id) ?? []).map(([, , , ...entry]) => toEntry(entry));
    changes.set(id, timelineChange(tail, statuses, implied));
  }
  return changes;
}

/** Adds the timelines of new URLs, of which nothing is stored. */
export function addNewTimelines(changes: Map<number, TimelineChange>, newUrls: readonly StatusUpdate[]): void {
  for (const { id, statuses, implied } of newUrls) {
    if (statuses.length > 0 || implied !== null) changes.set(id, timelineChange([], statuses, implied));
  }
}

const DELETE = `
  delete from events e using unnest($1::bigint[], $2::bigint[], $3::smallint[]) as g (url_id, ts, kind)
  where e.url_id = g.url_id and e.ts = g.ts and e.kind = g.kind`;

// For URLs that this transaction adds.
const ADD = `
  insert into events (url_id, ts, kind, host_id, removal_id, reporter_id, confirmed_ts)
  select ${unnested('bigint', 'bigint', 'smallint', 'bigint', 'bigint', 'bigint', 'bigint')}`;

const PUT = `${ADD}
  on conflict (url_id, ts, kind) do update set
    removal_id = excluded.removal_id, reporter_id = excluded.reporter_id, confirmed_ts = excluded.confirmed_ts`;

const SET_LAST = `
  update urls set event_ts = l.ts, event_kind = l.kind, event_removal_id = l.removal_id,
    event_reporter_id = l.reporter_id
  from unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::bigint[])
    as l (id, ts, kind, removal_id, reporter_id)
  where urls.id = l.id`;

/** Writes the changes of timelines. The row of a new URL is added with its last event. */
export function putStatuses(
  session: Session,
  updates: readonly StatusUpdate[],
  changes: ReadonlyMap<number, TimelineChange>,
  ids: EntryIds,
): Promise<unknown> {
  const { reporters, removals } = ids;
  const [deletes, adds, upserts, last]: [Scalar[][], Scalar[][], Scalar[][], Scalar[][]] = [[], [], [], []];
  for (const { id, hostId, isNew } of updates) {
    const change = changes.get(id);
    if (change === undefined) continue;
    for (const entry of change.deletes) deletes.push([id, entry.ts, kindCode(entry)]);
    for (const entry of change.upserts) {
      const { ts, removal, reporter, confirmedTs } = entry;
      const [removalId, reporterId] = [removals.get(removal) as number, reporters.get(reporter) as number];
      (isNew ? adds : upserts).push([id, ts, kindCode(entry), hostId, removalId, reporterId, confirmedTs]);
    }
    if (change.last !== undefined && !isNew) last.push([id, ...lastColumns(change.last, ids)]);
  }
  return Promise.all([
    runRows(session, DELETE, deletes, asGiven),
    runRows(session, ADD, adds, asGiven),
    runRows(session, PUT, upserts, asGiven),
    runRows(session, SET_LAST, last, asGiven),
  ]);
}

/** The last event in the row of a URL: time, kind, reason and reporter. */
export function lastColumns(last: Entry | null | undefined, { reporters, removals }: EntryIds): Scalar[] {
  if (!last) return [null, null, null, null];
  const { ts, removal, reporter } = last;
  return [ts, kindCode(last), removals.get(removal) as number, reporters.get(reporter) as number];
}
