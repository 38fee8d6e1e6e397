import { type ObservedStatus, STATUS_ORDER, type StatusObservation } from '../core/observation.ts';

/**
 * An entry of the timeline of a URL.
 *
 * The store keeps no observations. It keeps *runs*: periods in which all observations have one status, with the times of
 * the first and the newest observation. A new observation confirms a run, extends it or splits it:
 *
 *     online 10, online 30          one run 10…30                     added@10
 *     then, late: offline@20        online 10…10, offline 20, 30…30   added@10  offline@20  online@30
 *
 * An observation between two others of its run is not stored, so that a URL that is confirmed every hour stays small.
 * Therefore the old status begins again at the newest confirmation after a split, not at the first one after the split.
 *
 * Every removal is stored, also one that changes nothing at the time. The last reason must not depend on the order of
 * arrival, and a late `online` may make any of them the first (removed A@10, B@20, then online@15: the reason is B).
 *
 * At most one offline is *implied* by feeds that no longer list the URL. It was not observed, and a late listing may
 * move or cancel it. So it is stored in addition to the runs and never merged with one.
 */
export type Entry = {
  ts: number;
  /** An event, or a confirmation that is stored but is no event. */
  kind: EntryKind;
  removal: string;
  reporter: string;
  /** The newest observation of the run; null without one: an `added` before a first `offline`, an implied offline. */
  confirmedTs: number | null;
};

/** A change of the status that the API shows. */
export type EventKind = 'added' | 'online' | 'offline' | 'removed';

/** `offline_again`: an implied offline while the URL was not online, or an observed one after the implied one. */
export type EntryKind = EventKind | 'offline_after_removal' | 'removed_again' | 'offline_again';

/** The time from which a URL is offline, and the feed whose listing implies it. */
export type ImpliedOffline = { ts: number; reporter: string };

/** How the implied offline of a URL changes. */
export type ImpliedChange = { before: ImpliedOffline | null; after: ImpliedOffline | null };

type State = ObservedStatus | 'unknown';

/** A removal is a run of one observation. */
export type Run = StatusObservation & { confirmedTs: number };

/** The status that follows from the newest event: a removed URL is offline. */
export const SHOWN_STATUS = {
  added: 'online',
  online: 'online',
  offline: 'offline',
  removed: 'offline',
} as const satisfies Record<EventKind, string>;

/** The status in which the URL was observed, or which is implied. */
const OBSERVED_STATUS: Record<EntryKind, ObservedStatus> = {
  added: 'online',
  online: 'online',
  offline: 'offline',
  offline_after_removal: 'offline',
  offline_again: 'offline',
  removed: 'removed',
  removed_again: 'removed',
};

/** The state of a URL before an entry of this kind. */
const STATE_BEFORE: Record<EntryKind, State> = {
  added: 'unknown',
  online: 'offline',
  offline: 'online',
  removed: 'online',
  offline_after_removal: 'removed',
  removed_again: 'removed',
  offline_again: 'offline',
};

/** The order of entries at equal times. */
const ORDER: Record<EntryKind, number> = {
  added: 0,
  online: 1,
  offline: 2,
  offline_after_removal: 3,
  offline_again: 4,
  removed: 5,
  removed_again: 6,
};

/**
 * Returns the end of a timeline after more observations. `tail` is the whole timeline, or its entries from some ts on.
 * That ts must be before all of the observations and both implied offlines, and must have an entry that is not a hidden
 * implied offline. Older entries do not change. `implied` replaces the implied offline in `tail`.
 */
export function advance(
  tail: readonly Entry[],
  observations: readonly StatusObservation[],
  implied: ImpliedOffline | null = impliedIn(tail),
): Entry[] {
  const entries = inOrder(tail);
  const runs = toRuns(entries.filter(isObserved));
  for (const observation of observations) insert(runs, observation);
  const old = impliedIn(entries);
  if (old !== null && isHistory(old, implied, runs)) insert(runs, { ...old, status: 'offline', removal: '' });
  const [first] = entries;
  const before = first === undefined ? 'unknown' : STATE_BEFORE[first.kind];
  return toEntries(withImplied(runs, implied), before);
}

/** The runs of a whole timeline, with its implied offline as an observed one: an export of the URL. */
export function runsWithImplied(timeline: readonly Entry[]): Run[] {
  return toRuns(inOrder(timeline).filter((entry) => isObserved(entry) || entry.kind !== 'added'));
}

/** Whether an entry is an event; the others are hidden from callers. */
export function isEvent(entry: Entry): entry is Entry & { kind: EventKind } {
  return entry.kind !== 'offline_after_removal' && entry.kind !== 'removed_again' && entry.kind !== 'offline_again';
}

function isObserved(entry: Entry): boolean {
  return entry.confirmedTs !== null;
}

/** Adapters order entries by ts and kind. The code of `offline_again` is the only one that is not in `ORDER`. */
export function inOrder(entries: readonly Entry[]): readonly Entry[] {
  if (!entries.some(({ kind }) => kind === 'offline_again')) return entries;
  return entries.toSorted((a, b) => a.ts - b.ts || ORDER[a.kind] - ORDER[b.kind]);
}

/** Joins the two parts of a run that the implied offline separates. */
function toRuns(entries: readonly Entry[]): Run[] {
  const runs: Run[] = [];
  for (const { ts, kind, removal, reporter, confirmedTs } of entries) {
    const run: Run = { ts, status: OBSERVED_STATUS[kind], removal, reporter, confirmedTs: confirmedTs ?? ts };
    const last = runs.at(-1);
    if (last === undefined || !joins(last, run)) runs.push(run);
    else last.confirmedTs = Math.max(last.confirmedTs, run.confirmedTs);
  }
  return runs;
}

function impliedIn(tail: readonly Entry[]): ImpliedOffline | null {
  const entry = tail.find((one) => !isObserved(one) && one.kind !== 'added');
  return entry === undefined ? null : { ts: entry.ts, reporter: entry.reporter };
}

/**
 * Whether an implied offline that is replaced stays in the timeline as an observed one: the URL was online again later,
 * so that the last status is the same with and without it.
 */
function isHistory(old: ImpliedOffline, next: ImpliedOffline | null, runs: readonly Run[]): boolean {
  if (next !== null && next.ts <= old.ts) return false;
  return runs.some(({ status, confirmedTs }) => status === 'online' && confirmedTs > old.ts);
}

/**
 * Adds an observation to the runs. It repeats the start of a run, is inside a run (and splits it if the status differs),
 * extends a run to a later or an earlier time, or begins a run.
 */
function insert(runs: Run[], observed: StatusObservation): void {
  const at = countStarted(runs, observed) - 1;
  const run = runs[at];
  const next = runs[at + 1];
  if (run !== undefined && isSameStart(run, observed)) preferOneAtEqualTime(run, observed);
  else if (run !== undefined && covers(run, observed)) {
    if (run.status !== observed.status) split(runs, at, observed);
  } else if (run !== undefined && joins(run, observed)) run.confirmedTs = observed.ts;
  else if (next !== undefined && joins(next, observed))
    Object.assign(next, { ts: observed.ts, reporter: observed.reporter });
  else runs.splice(at + 1, 0, { ...observed, confirmedTs: observed.ts });
}

/** How many runs do not start after the observation. A binary search: a URL may have 100,000 runs, and rows of a dump fall in time. */
function countStarted(runs: readonly Run[], observed: StatusObservation): number {
  let [from, to] = [0, runs.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (startsAfter(runs[middle] as Run, observed)) to = middle;
    else from = middle + 1;
  }
  return from;
}

function split(runs: Run[], at: number, observed: StatusObservation): void {
  const run = runs[at] as Run;
  const again = { ...run, ts: run.confirmedTs };
  run.confirmedTs = run.ts;
  runs.splice(at + 1, 0, { ...observed, confirmedTs: observed.ts }, again);
}

function startsAfter(run: Run, observed: StatusObservation): boolean {
  return run.ts > observed.ts || (run.ts === observed.ts && STATUS_ORDER[run.status] > STATUS_ORDER[observed.status]);
}

function isSameStart(run: Run, observed: StatusObservation): boolean {
  return run.ts === observed.ts && run.status === observed.status;
}

function covers(run: Run, observed: StatusObservation): boolean {
  return (
    observed.ts < run.confirmedTs ||
    (observed.ts === run.confirmedTs && STATUS_ORDER[observed.status] <= STATUS_ORDER[run.status])
  );
}

function joins(run: Run, observed: StatusObservation): boolean {
  return run.status === observed.status && observed.status !== 'removed';
}

/** Of two observations of one time the same one is kept in any order of arrival. A reason wins over none. */
function preferOneAtEqualTime(run: Run, observed: StatusObservation): void {
  if (preference(observed) < preference(run))
    Object.assign(run, { removal: observed.removal, reporter: observed.reporter });
}

function preference({ removal, reporter }: StatusObservation): string {
  return `${removal === '' ? '1' : '0'}${removal}\u0000${reporter}`;
}

/** A run, or the implied offline. */
type Period = Omit<Run, 'confirmedTs'> & { confirmedTs: number | null };

function withImplied(runs: readonly Run[], implied: ImpliedOffline | null): readonly Period[] {
  if (implied === null) return runs;
  const offline: Period = { ...implied, status: 'offline', removal: '', confirmedTs: null };
  const at = runs.findLastIndex((run) => !startsAfter(run, { ...implied, status: 'offline', removal: '' })) + 1;
  const run = runs[at - 1];
  const isCut = run?.status === 'online' && run.confirmedTs > implied.ts;
  const cut: Period[] = isCut ? [{ ...run, confirmedTs: run.ts }, offline, { ...run, ts: run.confirmedTs }] : [offline];
  return runs.toSpliced(isCut ? at - 1 : at, isCut ? 1 : 0, ...(cut as Run[]));
}

function toEntries(periods: readonly Period[], before: State): Entry[] {
  const entries: Entry[] = [];
  let state = before;
  for (const { ts, status, removal, reporter, confirmedTs } of periods) {
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
