import { type ObservedStatus, STATUS_ORDER, type StatusObservation } from '../core/observation.ts';

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
 *
 * At most one offline is *implied* by what feeds no longer list. Nobody saw it, and a listing that arrives late may move
 * it or take it back; so it stands beside the runs and is never merged with one.
 */
export type Entry = {
  ts: number;
  /** The visible event, or a confirmation that must be kept and is no event. */
  kind: EntryKind;
  removal: string;
  reporter: string;
  /** The newest sighting of the run; null where nobody saw it: an `added` before a first `offline`, an implied offline. */
  confirmedTs: number | null;
};

/** `offline_again`: implied where the URL was not online anyway, or seen after the implied one. */
export type EntryKind = EventKind | 'offline_after_removal' | 'removed_again' | 'offline_again';

/** That a URL was offline, and whose listing says so. */
export type ImpliedOffline = { ts: number; reporter: string };

type State = ObservedStatus | 'unknown';

/** A run of sightings; a removal is a run of one. */
export type Run = StatusObservation & { confirmedTs: number };

const SEEN_AS: Record<EntryKind, ObservedStatus> = {
  added: 'online',
  online: 'online',
  offline: 'offline',
  offline_after_removal: 'offline',
  offline_again: 'offline',
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
  offline_again: 'offline',
};

/** How entries of one time follow each other. */
const PLACE: Record<EntryKind, number> = {
  added: 0,
  online: 1,
  offline: 2,
  offline_after_removal: 3,
  offline_again: 4,
  removed: 5,
  removed_again: 6,
};

/**
 * The end of a timeline after some more observations. `tail` is all of it, or its entries from any ts on that lies
 * before every one of the observations and both implied offlines, and has something other than a hidden implied one:
 * those further back are not touched. `implied` takes the place of the one there is.
 */
export function advance(
  tail: readonly Entry[],
  observations: readonly StatusObservation[],
  implied: ImpliedOffline | null = impliedIn(tail),
): Entry[] {
  const entries = inOrder(tail);
  const runs = toRuns(entries.filter(isSeen));
  for (const observation of observations) insert(runs, observation);
  const old = impliedIn(entries);
  if (old !== null && isHistory(old, implied, runs)) insert(runs, { ...old, status: 'offline', removal: '' });
  const [first] = entries;
  const before = first === undefined ? 'unknown' : STATE_BEFORE[first.kind];
  return toEntries(withImplied(runs, implied), before);
}

/** The runs of a whole timeline as if somebody had seen its implied offline: what others must be told of it. */
export function toldRuns(timeline: readonly Entry[]): Run[] {
  return toRuns(inOrder(timeline).filter((entry) => isSeen(entry) || entry.kind !== 'added'));
}

/** Whether an entry is an event that callers see. */
export function isEvent(entry: Entry): entry is Entry & { kind: EventKind } {
  return entry.kind !== 'offline_after_removal' && entry.kind !== 'removed_again' && entry.kind !== 'offline_again';
}

function isSeen(entry: Entry): boolean {
  return entry.confirmedTs !== null;
}

/** An adapter gives them by ts and kind, and `offline_again` is the one kind that does not stand in order of its code. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  if (!entries.some(({ kind }) => kind === 'offline_again')) return entries;
  return entries.toSorted((a, b) => a.ts - b.ts || PLACE[a.kind] - PLACE[b.kind]);
}

/** A run that the implied offline cut in two, or one that it was kept apart from, is one again. */
function toRuns(entries: readonly Entry[]): Run[] {
  const runs: Run[] = [];
  for (const { ts, kind, removal, reporter, confirmedTs } of entries) {
    const run: Run = { ts, status: SEEN_AS[kind], removal, reporter, confirmedTs: confirmedTs ?? ts };
    const last = runs.at(-1);
    if (last === undefined || !joins(last, run)) runs.push(run);
    else last.confirmedTs = Math.max(last.confirmedTs, run.confirmedTs);
  }
  return runs;
}

function impliedIn(tail: readonly Entry[]): ImpliedOffline | null {
  const entry = tail.find((one) => !isSeen(one) && one.kind !== 'added');
  return entry === undefined ? null : { ts: entry.ts, reporter: entry.reporter };
}

/**
 * Whether an implied offline that gives way stays in the timeline, as if it had been seen: the URL was back later, so
 * that the last status is the same with and without it.
 */
function isHistory(old: ImpliedOffline, next: ImpliedOffline | null, runs: readonly Run[]): boolean {
  if (next !== null && next.ts <= old.ts) return false;
  return runs.some(({ status, confirmedTs }) => status === 'online' && confirmedTs > old.ts);
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
  return run.ts > seen.ts || (run.ts === seen.ts && STATUS_ORDER[run.status] > STATUS_ORDER[seen.status]);
}

function isSameStart(run: Run, seen: StatusObservation): boolean {
  return run.ts === seen.ts && run.status === seen.status;
}

function covers(run: Run, seen: StatusObservation): boolean {
  return (
    seen.ts < run.confirmedTs || (seen.ts === run.confirmedTs && STATUS_ORDER[seen.status] <= STATUS_ORDER[run.status])
  );
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

/** A run, or the implied offline among them. */
type Stretch = Omit<Run, 'confirmedTs'> & { confirmedTs: number | null };

function withImplied(runs: readonly Run[], implied: ImpliedOffline | null): readonly Stretch[] {
  if (implied === null) return runs;
  const one: Stretch = { ...implied, status: 'offline', removal: '', confirmedTs: null };
  const at = runs.findLastIndex((run) => !startsAfter(run, { ...implied, status: 'offline', removal: '' })) + 1;
  const run = runs[at - 1];
  const isCut = run?.status === 'online' && run.confirmedTs > implied.ts;
  const cut: Stretch[] = isCut ? [{ ...run, confirmedTs: run.ts }, one, { ...run, ts: run.confirmedTs }] : [one];
  return runs.toSpliced(isCut ? at - 1 : at, isCut ? 1 : 0, ...(cut as Run[]));
}

function toEntries(stretches: readonly Stretch[], before: State): Entry[] {
  const entries: Entry[] = [];
  let state = before;
  for (const { ts, status, removal, reporter, confirmedTs } of stretches) {
    if (state === 'unknown' && status !== 'online') {
      entries.push({ ts, kind: 'added', removal: '', reporter, confirmedTs: null });
    }
    entries.push({ ts, kind: kindOf(status, state, confirmedTs === null), removal, reporter, confirmedTs });
    if (state !== 'removed' || status === 'online') state = status;
  }
  return entries;
}

function kindOf(status: ObservedStatus, before: State, isImplied: boolean): EntryKind {
  if (status === 'online') return before === 'offline' ? 'online' : 'added';
  if (status === 'removed') return before === 'removed' ? 'removed_again' : 'removed';
  if (before === 'offline' || (before === 'removed' && isImplied)) return 'offline_again';
  return before === 'removed' ? 'offline_after_removal' : 'offline';
}

/** What the server knows, in the words of the code; `http/present.ts` and `store/answer-text.ts` turn it into the words of the wire. */

export type EventKind = 'added' | 'online' | 'offline' | 'removed';

/** The newest event read as a status: what was removed is offline, and keeps its reason. */
export const STATUS_OF = {
  added: 'online',
  online: 'online',
  offline: 'offline',
  removed: 'offline',
} as const satisfies Record<EventKind, string>;
