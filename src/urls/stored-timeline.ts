import type { StatusObservation } from '../core/observation.ts';
import { isRecordedAgain } from '../database/changes.ts';
import { FIRST_OFFLINE_KIND } from './store.ts';
import { advance, type Entry, type EntryKind, type ImpliedChange, isEvent } from './timeline.ts';

export type EntryRow = [ts: number, kind: number, removal: string, reporter: string, confirmedTs: number | null];

export const ENTRY_COLUMNS = 'e.ts, e.kind, removals.reason, reporters.name, e.confirmed_ts';

/** The writes that change a stored timeline. */
export type TimelineChange = {
  upserts: Entry[];
  deletes: Entry[];
  /** How many events changed; hidden entries do not count. */
  eventsChanged: number;
  /** The newest event; null: there is none any more, undefined: it has not changed. */
  last: Entry | null | undefined;
  /** Whether the newest event is another one than before. */
  isLastChanged: boolean;
  /** Whether an online run is new, or its end is to be recorded for the change feed again. */
  isSeenAgain: boolean;
};

/** The effect of more observations and of another implied offline on a timeline that ends with `before`. */
export function timelineChange(
  before: readonly Entry[],
  observations: readonly StatusObservation[],
  implied: ImpliedChange | null,
): TimelineChange {
  const after = advance(before, observations, implied === null ? undefined : implied.after);
  const left = before.length === 0 ? null : new Map(before.map((entry) => [keyOf(entry), entry]));
  const upserts: Entry[] = [];
  let eventsChanged = 0;
  let isSeenAgain = false;
  for (const entry of after) {
    const old = left === null ? undefined : taken(left, keyOf(entry));
    if (old !== undefined && isSame(old, entry) && old.confirmedTs === entry.confirmedTs) continue;
    upserts.push(entry);
    isSeenAgain ||= isEndRecorded(old, entry);
    if (isEvent(entry) && (old === undefined || !isSame(old, entry))) eventsChanged++;
  }
  const deletes = left === null ? [] : [...left.values()];
  eventsChanged += deletes.filter(isEvent).length;
  const newest = eventsChanged > 0 ? after.findLast(isEvent) : undefined;
  const last = after.length === 0 ? null : newest;
  const isLastChanged = last !== undefined && !isSameEvent(before.findLast(isEvent), last ?? undefined);
  return { upserts, deletes, eventsChanged, last, isLastChanged, isSeenAgain };
}

/** Removes an entry and returns it. */
function taken(entries: Map<string, Entry>, key: string): Entry | undefined {
  const entry = entries.get(key);
  entries.delete(key);
  return entry;
}

function isSameEvent(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return keyOf(a) === keyOf(b) && isSame(a, b);
}

function isEndRecorded(old: Entry | undefined, { ts, kind, confirmedTs }: Entry): boolean {
  if (confirmedTs === null || (kind !== 'added' && kind !== 'online')) return false;
  return old === undefined || old.confirmedTs === null || isRecordedAgain(ts, old.confirmedTs, confirmedTs);
}

/** The time of the first entry that may change. */
export function firstChangeTs(observations: readonly StatusObservation[], implied: ImpliedChange | null): number {
  const times = [observations[0]?.ts, implied?.before?.ts, implied?.after?.ts];
  return Math.min(...times.filter((ts) => ts !== undefined));
}

export function toEntry([ts, kind, removal, reporter, confirmedTs]: EntryRow): Entry {
  return { ts, kind: ENTRY_KINDS[kind] ?? 'added', removal, reporter, confirmedTs };
}

export function kindCode({ kind }: Entry): number {
  return ENTRY_KINDS.indexOf(kind);
}

function keyOf(entry: Entry): string {
  return `${entry.ts} ${entry.kind}`;
}

function isSame(a: Entry, b: Entry): boolean {
  return a.removal === b.removal && a.reporter === b.reporter;
}

/**
 * A kind is stored as its index here, on every engine. This is the order of entries at equal times, except for the last
 * kind, which `timeline.ts` sorts.
 */
export const ENTRY_KINDS = [
  'added',
  'online',
  'offline',
  'removed',
  'offline_after_removal',
  'removed_again',
  'offline_again',
] as const satisfies readonly EntryKind[];

/** Whether a URL whose newest event has this kind is online; null: it has no event. */
export function isOnline(kind: number | null): boolean {
  return kind !== null && kind < FIRST_OFFLINE_KIND;
}

/** The code of `offline_again`. */
export const OFFLINE_AGAIN_KIND = 6;
