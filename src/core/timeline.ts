import type { ObservedStatus } from './observation.ts';
import type { EventKind } from './records.ts';

/**
 * Which events the observations of one URL leave behind.
 *
 * The store keeps no observation. It keeps *runs*: stretches in which nothing but online, or nothing but offline, was
 * seen, with the times of the first and the newest sighting. An observation confirms a run, widens it, or splits it:
 *
 *     online 10, online 30          one run 10…30                     added@10
 *     then, late: offline@20        online 10…10, offline 20, 30…30   added@10  offline@20  online@30
 *
 * A sighting between two others of its run is forgotten, which is what keeps a URL that is confirmed every hour small;
 * so after a split the old state begins again at the newest confirmation, not at the first one behind the split.
 *
 * Removals are different: each one is kept, also those that change nothing at the time. Which reason is the last one
 * must not depend on the order of arrival, and a late `online` may put any of them first (removed A@10, B@20, then
 * online@15: the reason is B).
 */
export type Entry = {
  ts: number;
  /** The visible event, or what was seen after a removal: such sightings confirm it and are not events. */
  kind: EntryKind;
  removal: string;
  reporter: string;
  /** The newest sighting of the run; null for an `added` that nobody saw, implied by a URL first seen offline. */
  confirmedTs: number | null;
};

export type EntryKind = EventKind | 'offline_after_removal' | 'removed_again';

export type StatusObservation = { ts: number; status: ObservedStatus; removal: string; reporter: string };

type State = ObservedStatus | 'unknown';

/** A run of sightings; a removal is a run of one. */
type Run = StatusObservation & { confirmedTs: number };

/** At equal times online comes first and removed last. */
const RANK: Record<ObservedStatus, number> = { online: 0, offline: 1, removed: 2 };

const SEEN_AS: Record<EntryKind, ObservedStatus> = {
  added: 'online',
  online: 'online',
  offline: 'offline',
  offline_after_removal: 'offline',
  removed: 'removed',
  removed_again: 'removed',
};

/** What a URL's state must have been for an entry of this kind to be written. */
const STATE_BEFORE: Record<EntryKind, State> = {
  added: 'unknown',
  online: 'offline',
  offline: 'online',
  removed: 'online',
  offline_after_removal: 'removed',
  removed_again: 'removed',
};

/**
 * The end of a timeline after some more observations. `tail` is all of it, or its entries from any ts on that lies
 * before every one of the observations: those further back are not touched.
 */
export function advance(tail: readonly Entry[], observations: readonly StatusObservation[]): Entry[] {
  const runs: Run[] = tail.flatMap(toRun);
  for (const observation of observations) insert(runs, observation);
  const first = tail[0];
  const before = first === undefined ? 'unknown' : STATE_BEFORE[first.kind];
  return toEntries(runs, before);
}

/** Orders observations as they count. */
export function byTime(a: StatusObservation, b: StatusObservation): number {
  return a.ts - b.ts || RANK[a.status] - RANK[b.status];
}

/** Whether an entry is an event that callers see. */
export function isEvent(entry: Entry): entry is Entry & { kind: EventKind } {
  return entry.kind !== 'offline_after_removal' && entry.kind !== 'removed_again';
}

function toRun(entry: Entry): Run[] {
  const { ts, kind, removal, reporter, confirmedTs } = entry;
  return confirmedTs === null ? [] : [{ ts, status: SEEN_AS[kind], removal, reporter, confirmedTs }];
}

function insert(runs: Run[], seen: StatusObservation): void {
  const at = runs.findLastIndex((run) => !startsAfter(run, seen));
  const run = runs[at];
  const next = runs[at + 1];
  if (run !== undefined && isSameStart(run, seen)) preferOneAtEqualTime(run, seen);
  else if (run !== undefined && covers(run, seen)) {
    if (run.status !== seen.status) split(runs, at, seen);
  } else if (run !== undefined && joins(run, seen)) run.confirmedTs = seen.ts;
  else if (next !== undefined && joins(next, seen)) Object.assign(next, { ts: seen.ts, reporter: seen.reporter });
  else runs.splice(at + 1, 0, { ...seen, confirmedTs: seen.ts });
}

function split(runs: Run[], at: number, seen: StatusObservation): void {
  const run = runs[at] as Run;
  const again = { ...run, ts: run.confirmedTs };
  run.confirmedTs = run.ts;
  runs.splice(at + 1, 0, { ...seen, confirmedTs: seen.ts }, again);
}

function startsAfter(run: Run, seen: StatusObservation): boolean {
  return run.ts > seen.ts || (run.ts === seen.ts && RANK[run.status] > RANK[seen.status]);
}

function isSameStart(run: Run, seen: StatusObservation): boolean {
  return run.ts === seen.ts && run.status === seen.status;
}

function covers(run: Run, seen: StatusObservation): boolean {
  return seen.ts < run.confirmedTs || (seen.ts === run.confirmedTs && RANK[seen.status] <= RANK[run.status]);
}

function joins(run: Run, seen: StatusObservation): boolean {
  return run.status === seen.status && seen.status !== 'removed';
}

/** Two reports of one moment: which one is kept must not depend on which came first. A given reason beats none. */
function preferOneAtEqualTime(run: Run, seen: StatusObservation): void {
  if (preference(seen) < preference(run)) Object.assign(run, { removal: seen.removal, reporter: seen.reporter });
}

function preference({ removal, reporter }: StatusObservation): string {
  return `${removal === '' ? '1' : '0'}${removal}\u0000${reporter}`;
}

function toEntries(runs: readonly Run[], before: State): Entry[] {
  const entries: Entry[] = [];
  let state = before;
  for (const { ts, status, removal, reporter, confirmedTs } of runs) {
    if (state === 'unknown' && status !== 'online') {
      entries.push({ ts, kind: 'added', removal: '', reporter, confirmedTs: null });
    }
    entries.push({ ts, kind: kindOf(status, state), removal, reporter, confirmedTs });
    if (state !== 'removed' || status === 'online') state = status;
  }
  return entries;
}

function kindOf(status: ObservedStatus, before: State): EntryKind {
  if (status === 'online') return before === 'offline' ? 'online' : 'added';
  if (before !== 'removed') return status;
  return status === 'offline' ? 'offline_after_removal' : 'removed_again';
}
