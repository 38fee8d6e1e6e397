import type { ReputationStore } from '../reputation/store.ts';
import type { UrlStore } from '../urls/store.ts';
import type { LeftOutReason } from './content.ts';
import { type ActiveExclusions, activeExclusions } from './exclusions.ts';
import { type ActiveFilter, activeFilter } from './filter.ts';
import { createListEnd, type ListEnd } from './list-end.ts';
import { createSharedBelow, type SharedBelow } from './shared-below.ts';
import type { Exclusion, ListDefinition } from './store.ts';

/** What lists are read from. */
export type ListReads = Pick<UrlStore, 'urlsForList' | 'urlDetails'> & ReputationStore;

export type BuildOptions = {
  /** Private, reserved and documentation ranges are listed like others. */
  allowReserved: boolean;
  /** Smaller in tests. */
  maxEntries?: number;
};

/** Entries in memory: a million URLs take 0.3 GB. Devices take far fewer, and get the newest. */
export const MAX_ENTRIES = 1_000_000;

/** All that the parts of a build need. */
export type Build = {
  store: ListReads;
  definition: ListDefinition;
  filter: ActiveFilter;
  exclusions: ActiveExclusions;
  sharedBelow: SharedBelow;
  nowTs: number;
  options: BuildOptions;
  end: ListEnd;
  leaveOut(reason: LeftOutReason, count?: number): void;
  /** What was left out so far. */
  leftOut: Partial<Record<LeftOutReason, number>>;
};

export function prepareBuild(
  store: ListReads,
  definition: ListDefinition,
  exclusions: readonly Exclusion[],
  nowTs: number,
  options: BuildOptions,
): Build {
  const leftOut: Build['leftOut'] = {};
  return {
    store,
    definition,
    nowTs,
    options,
    leftOut,
    filter: activeFilter(definition.filter, nowTs),
    exclusions: activeExclusions(exclusions, definition.name, nowTs),
    sharedBelow: createSharedBelow(store),
    end: createListEnd(nowTs),
    leaveOut(reason, count = 1) {
      if (count > 0) leftOut[reason] = (leftOut[reason] ?? 0) + count;
    },
  };
}

/** The order of a list: the newest first, then by key. */
type EntryOrder<Entry> = {
  /** Unix seconds. */
  tsOf(entry: Entry): number;
  /** Of entries with the same time. */
  compareKeys(a: Entry, b: Entry): number;
};

/** Keeps the first entries in this order, as many as a list may have, and counts the others as left out. */
export function createNewest<Entry>({ options, leaveOut }: Build, order: EntryOrder<Entry>) {
  const { maxEntries = MAX_ENTRIES } = options;
  let entries: Entry[] = [];
  function cut(): void {
    entries = inOrder(entries, order);
    leaveOut('over-limit', entries.splice(maxEntries).length);
  }
  return {
    add(entry: Entry): void {
      entries.push(entry);
      // Rarely, because it sorts.
      if (entries.length >= 1.25 * maxEntries + 1) cut();
    },
    sorted(): Entry[] {
      cut();
      return entries;
    },
  };
}

/** More than entries are sorted together. A time in seconds, multiplied by it, is still an exact number until 2106. */
const PLACES = 2 ** 21;

/** Sorts numbers of time and place first, which takes a tenth of the time that comparing entries takes. */
function inOrder<Entry>(entries: readonly Entry[], { tsOf, compareKeys }: EntryOrder<Entry>): Entry[] {
  const places = new Float64Array(entries.length);
  for (const [place, entry] of entries.entries()) places[place] = place - tsOf(entry) * PLACES;
  places.sort();
  const sorted: Entry[] = [];
  let sameFrom = 0;
  const sortSame = () => {
    if (sorted.length - sameFrom < 2) return;
    for (const entry of sorted.splice(sameFrom).sort(compareKeys)) sorted.push(entry);
  };
  let lastTs = Number.NaN;
  for (const place of places) {
    const ts = -Math.floor(place / PLACES);
    if (ts !== lastTs) {
      sortSame();
      sameFrom = sorted.length;
      lastTs = ts;
    }
    sorted.push(entries[place + ts * PLACES] as Entry);
  }
  sortSame();
  return sorted;
}
