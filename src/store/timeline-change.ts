import { advance, type Entry, isEvent, type StatusObservation } from '../core/timeline.ts';
import { ENTRY_KINDS } from './entry-kind.ts';
import type { ImpliedChange } from './implied.ts';

export type EntryRow = [ts: number, kind: number, removal: string, reporter: string, confirmedTs: number | null];

export const ENTRY_COLUMNS = 'e.ts, e.kind, removals.reason, reporters.name, e.confirmed_ts';

/** What is to be written so that the end of a stored timeline becomes another one. */
export type TimelineChange = {
  put: Entry[];
  gone: Entry[];
  /** How many events a caller sees changed. */
  eventsChanged: number;
  /** The newest event now, or null when there is none any more; undefined where it is as it was. */
  last: Entry | null | undefined;
};

/** What some more observations, and another implied offline, change in a timeline of which `before` is the end. */
export function timelineChange(
  before: readonly Entry[],
  observations: readonly StatusObservation[],
  implied: ImpliedChange | null,
): TimelineChange {
  const after = advance(before, observations, implied === null ? undefined : implied.after);
  const kept = new Map(before.map((entry) => [keyOf(entry), entry]));
  const put: Entry[] = [];
  let eventsChanged = 0;
  for (const entry of after) {
    const old = kept.get(keyOf(entry));
    kept.delete(keyOf(entry));
    if (old !== undefined && isSame(old, entry) && old.confirmedTs === entry.confirmedTs) continue;
    put.push(entry);
    if (isEvent(entry) && (old === undefined || !isSame(old, entry))) eventsChanged++;
  }
  const gone = [...kept.values()];
  eventsChanged += gone.filter(isEvent).length;
  const newest = eventsChanged > 0 ? after.findLast(isEvent) : undefined;
  return { put, gone, eventsChanged, last: after.length === 0 ? null : newest };
}

/** Before this time nothing changes. */
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
