import type { ReputationStore } from '../reputation/store.ts';
import type { UrlStore } from '../urls/store.ts';
import type { LeftOutReason } from './content.ts';
import { type ActiveExclusions, activeExclusions } from './exclusions.ts';
import { type ActiveFilter, activeFilter } from './filter.ts';
import { createListEnd, type ListEnd } from './list-end.ts';
import type { Exclusion, ListDefinition } from './store.ts';

/** What lists are read from. */
export type ListReads = Pick<UrlStore, 'urlsForList' | 'urlDetails'> & ReputationStore;

export type BuildOptions = {
  /** Private, reserved and documentation ranges are listed like others. */
  allowReserved: boolean;
  signal: AbortSignal;
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
  nowTs: number;
  options: BuildOptions;
  end: ListEnd;
  leaveOut(reason: LeftOutReason, count?: number): void;
};

export function prepareBuild(
  store: ListReads,
  definition: ListDefinition,
  exclusions: readonly Exclusion[],
  nowTs: number,
  options: BuildOptions,
): Build {
  return {
    ...{ store, definition, nowTs, options },
    filter: activeFilter(definition.filter, nowTs),
    exclusions: activeExclusions(exclusions, definition.name, nowTs),
    end: createListEnd(nowTs),
    leaveOut() {},
  };
}

/** Keeps the first entries in this order, as many as a list may have, and counts the others as left out. */
export function createNewest<Entry>({ options, leaveOut }: Build, compare: (a: Entry, b: Entry) => number) {
  const { maxEntries = MAX_ENTRIES } = options;
  const entries: Entry[] = [];
  function cut(): void {
    entries.sort(compare);
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
