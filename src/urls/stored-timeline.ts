import type { StatusObservation } from '../core/observation.ts';
import type { ImpliedChange } from './listing-rules.ts';
import { advance, type Entry, type EntryKind, isEvent } from './timeline.ts';

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

/**
 * A kind is stored as its index here, on every engine; the order is the one in which entries stand at equal
 * times, but for the last: where such an entry stands does not matter.
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

/** The kinds before it are online. */
const FIRST_OFFLINE_KIND = 2;

/** Whether a URL whose newest event has this kind is online; null: it has no event. */
export function isOnline(kind: number | null): boolean {
  return kind !== null && kind < FIRST_OFFLINE_KIND;
}

/** The kinds from here on are confirmations and not shown. */
export const FIRST_HIDDEN_KIND = 4;
/** `offline_again` */
export const OFFLINE_AGAIN_KIND = 6;
