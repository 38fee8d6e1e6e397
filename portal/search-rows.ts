import type { SearchLine } from '../src/portal/schemas.ts';
import { DAY } from './format.ts';
import { encoded } from './query.ts';

// The result of a search: one row per URL, from a stream with one record per fact.

export type SearchRecord = SearchLine;

/** Properties of a URL that are counted and that filter. */
export const FACETS = ['host', 'network', 'status', 'family'] as const;

/** A URL with its newest fact. */
export type Row = SearchRecord & {
  /** A value for each facet; an empty text where it is unknown. */
  keys: readonly string[];
};

export type RowStore = {
  /** One per URL, in the order of their first fact. */
  rows: Row[];
  add(records: readonly SearchRecord[]): void;
  factCount(): number;
  /** Every fact, in the order of the stream. */
  facts(): Generator<SearchRecord>;
};

export function createRowStore(): RowStore {
  const rows: Row[] = [];
  const indexById = new Map<number, number>();
  // Two numbers per fact: everything else is the same for all facts of a URL.
  const factRows: number[] = [];
  const factTimes: number[] = [];

  function addOne(record: SearchRecord): void {
    let index = indexById.get(record.id);
    if (index === undefined) {
      index = rows.length;
      indexById.set(record.id, index);
      rows.push(toRow(record));
    } else if (record.ts > (rows[index]?.ts ?? 0)) {
      rows[index] = toRow(record);
    }
    factRows.push(index);
    factTimes.push(record.ts);
  }

  return {
    rows,
    add(records) {
      for (const record of records) addOne(record);
    },
    factCount: () => factRows.length,
    *facts() {
      for (const [i, index] of factRows.entries()) {
        const { keys: _, ...record } = rows[index] as Row;
        yield { ...record, ts: factTimes[i] ?? 0 };
      }
    },
  };
}

function toRow({ ts, id, url, status, family, asn, network }: SearchRecord): Row {
  const keys = [hostOf(url), networkText(asn, network), status ?? '', family ?? ''];
  return { ts, id, url, status, family, asn, network, keys };
}

/** Of a normalized URL, without the port. */
const HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)/i;

export const hostOf = (url: string): string => HOST.exec(url)?.[1] ?? '';

export function networkText(asn: number | null, name: string | null): string {
  return asn === null ? '' : name === null ? `AS${asn}` : `AS${asn} ${name}`;
}

/** Days since 1970, both included. */
export type DayRange = { from: number; to: number };

/** What the person has chosen. Values of one facet are alternatives; different facets must all match. */
export type Choice = { values: readonly ReadonlySet<string>[]; days: DayRange | null };

export const NO_CHOICE: Choice = { values: FACETS.map(() => new Set<string>()), days: null };

export const isChosen = ({ values, days }: Choice): boolean => days !== null || values.some(({ size }) => size > 0);

/** `only-status=online&days=20400-20406` of the address of a page. What is not valid is ignored. */
export function readChoice(query: URLSearchParams): Choice {
  const [, from, to] = /^(\d{1,7})-(\d{1,7})$/.exec(query.get('days') ?? '') ?? [];
  return {
    values: FACETS.map((facet) => new Set(query.getAll(`only-${facet}`))),
    days: from === undefined ? null : { from: Number(from), to: Number(to) },
  };
}

/** What `readChoice` reads, to be appended to a search; empty without filters. */
export function choiceQuery({ values, days }: Choice): string {
  const texts = FACETS.flatMap((facet, i) => [...(values[i] ?? [])].map((value) => `&only-${facet}=${encoded(value)}`));
  return texts.join('') + (days === null ? '' : `&days=${days.from}-${days.to}`);
}

/** Adds the value to the filter, or removes it. */
export function toggled(choice: Choice, facet: number, value: string): Choice {
  const changed = new Set(choice.values[facet]);
  if (!changed.delete(value)) changed.add(value);
  return { ...choice, values: choice.values.with(facet, changed) };
}

type FacetCount = { value: string; count: number };
export type FacetView = { top: FacetCount[]; distinct: number };
export type HistogramView = { firstDay: number; daysPerBar: number; counts: number[] };
export type View = { rows: readonly Row[]; facets: FacetView[]; histogram: HistogramView };

/** The values of a facet that are shown. */
const TOP_VALUES = 8;
/** Two pixels for each on a wide screen. A year has a bar per day. */
const MAX_BARS = 370;
/** Bars of a few days would be as wide as a hand. */
const MIN_BARS = 30;
const WEEK_DAYS = 7;

const dayOf = (ts: number): number => Math.floor(ts / DAY);

/**
 * The rows that match the choice, and the counts. A row counts in a facet if it matches the choice in all others: so the
 * counts say what one more click would show.
 */
export function viewOf(rows: readonly Row[], choice: Choice): View {
  const shown: Row[] = [];
  const counts = FACETS.map(() => new Map<string, number>());
  const dayCounts = new Map<number, number>();
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const row of rows) {
    const day = dayOf(row.ts);
    first = Math.min(first, day);
    last = Math.max(last, day);
    let misses = 0;
    let missed = -1;
    for (let i = 0; i < FACETS.length; i++) {
      if (matches(choice.values[i], row.keys[i])) continue;
      misses++;
      missed = i;
    }
    const isInDays = choice.days === null || (choice.days.from <= day && day <= choice.days.to);
    if (isInDays && misses === 0) shown.push(row);
    if (isInDays && misses <= 1) {
      for (let i = 0; i < FACETS.length; i++) if (misses === 0 || missed === i) increment(counts[i], row.keys[i] ?? '');
    }
    if (misses === 0) increment(dayCounts, day);
  }
  const facets = counts.map((map, i) => ({ top: topValues(map, choice.values[i]), distinct: map.size }));
  return { rows: shown, facets, histogram: histogramOf(dayCounts, first, last) };
}

const matches = (chosen: ReadonlySet<string> | undefined, value: string | undefined): boolean =>
  chosen === undefined || chosen.size === 0 || chosen.has(value ?? '');

function increment<K>(counts: Map<K, number> | undefined, key: K): void {
  counts?.set(key, (counts.get(key) ?? 0) + 1);
}

/** The most frequent values, and the chosen ones, which must stay visible to be removed. */
function topValues(counts: ReadonlyMap<string, number>, chosen: ReadonlySet<string> = new Set()): FacetCount[] {
  const top: FacetCount[] = [];
  for (const [value, count] of counts) {
    if (top.length === TOP_VALUES && count <= (top[TOP_VALUES - 1]?.count ?? 0)) continue;
    const place = top.findIndex((other) => other.count < count);
    top.splice(place === -1 ? top.length : place, 0, { value, count });
    top.length = Math.min(top.length, TOP_VALUES);
  }
  const missing = [...chosen].filter((value) => !top.some((shown) => shown.value === value));
  return [...top, ...missing.map((value) => ({ value, count: counts.get(value) ?? 0 }))];
}

/** Bars without gaps up to the last day of the whole result, whatever is chosen, so that they stay where they are. */
function histogramOf(dayCounts: ReadonlyMap<number, number>, earliest: number, last: number): HistogramView {
  if (last < earliest) return { firstDay: 0, daysPerBar: 1, counts: [] };
  const days = Math.max(last - earliest + 1, MIN_BARS);
  const daysPerBar = days <= MAX_BARS ? 1 : Math.max(WEEK_DAYS, Math.ceil(days / MAX_BARS / WEEK_DAYS) * WEEK_DAYS);
  const counts = new Array<number>(Math.ceil(days / daysPerBar)).fill(0);
  // The last bar ends with the last day: bars of a week from the earliest day on would end in the future.
  const first = last - counts.length * daysPerBar + 1;
  for (const [day, count] of dayCounts) {
    const bar = Math.floor((day - first) / daysPerBar);
    counts[bar] = (counts[bar] ?? 0) + count;
  }
  return { firstDay: first, daysPerBar, counts };
}

/** The days of the bars from one to another, in either order. */
export function daysOfBars({ firstDay, daysPerBar }: HistogramView, a: number, b: number): DayRange {
  return {
    from: firstDay + Math.min(a, b) * daysPerBar,
    to: firstDay + (Math.max(a, b) + 1) * daysPerBar - 1,
  };
}

/** The first and the last bar that the days touch; null outside. */
export function barsOfDays({ firstDay, daysPerBar, counts }: HistogramView, days: DayRange): [number, number] | null {
  const from = Math.max(0, Math.floor((days.from - firstDay) / daysPerBar));
  const to = Math.min(counts.length - 1, Math.floor((days.to - firstDay) / daysPerBar));
  return from <= to ? [from, to] : null;
}

type SortName = 'ts' | 'url' | 'status';
export type Order = { by: SortName; isDown: boolean };

/** Rows without a value are last in both directions; equal ones have the newest first. */
export function sortedRows(rows: readonly Row[], { by, isDown }: Order): Row[] {
  const sign = isDown ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [a[by], b[by]];
    if (x === y) return b.ts - a.ts;
    if (x === null || y === null) return x === null ? 1 : -1;
    return x < y ? -sign : sign;
  });
}
