import type { Reader } from '../../database/sqlite/database.ts';
import { createUrlFilter, type UrlFilter, WORDS_PER_TWO_URLS } from '../url-filter.ts';

/** The URLs of the database, in memory, so that most lookups of unknown URLs need no statement (docs/decisions/bulk.md). */
export type KnownUrls = {
  /**
   * The places of the URLs that may be stored, in the current read transaction. All places as long as the filter lacks
   * many stored URLs; then it is completed in the background.
   */
  candidates(urls: readonly string[]): number[];
};

// The buffer that the threads of a process share, in words of 32 bits. It has a part for every power of two: part n is for
// databases with ids up to 2^n and begins at word 2^(n-1). A database that has grown beyond a part moves on to the next
// one, without a message to other threads. Memory of parts that are not used yet is only reserved. In front of the parts
// are a flag, and for each part the greatest id up to which it has all URLs.

const FIRST_PART = 16;
/** 33 million URLs: 64 MB. A larger database has no filter. */
const LAST_PART = 25;
const STALE = 0;

const firstWordOf = (part: number): number => (2 ** part * WORDS_PER_TWO_URLS) / 2;
const endBytesOf = (part: number): number => firstWordOf(part + 1) * Int32Array.BYTES_PER_ELEMENT;

export const createKnownUrlsBuffer = (): SharedArrayBuffer =>
  new SharedArrayBuffer(endBytesOf(FIRST_PART - 1), { maxByteLength: endBytesOf(LAST_PART) });

/** Rows that are read at once, while requests wait: about a millisecond. */
const STEP_ROWS = 1_000;

const NEWEST = 'select id, url from urls order by id desc limit 1';

// The first row is the last one that the filter has, unless it is empty.
const NEXT = `select id, url from urls where id >= ? order by id limit ${STEP_ROWS + 1}`;

type Row = [id: number, url: string];

/** `upTo`: its place in the front of the buffer. */
type Part = { upTo: number; filter: UrlFilter };

/**
 * The filter follows all writers, also other processes: SQLite has one writer at a time and gives a new row the greatest
 * id plus one, so all URLs that the filter lacks are behind the last id that it has. They are read in the transaction of
 * the lookup. Nothing deletes or changes URLs. If somebody does so by hand, an id may be used again: when the filter does
 * not have a URL that it must have, it is not used any more.
 */
export function createKnownUrls(db: Reader, buffer: SharedArrayBuffer): KnownUrls {
  const newest = db.prepare<Row>(NEWEST);
  const next = db.prepare<Row>(NEXT);
  const front = new Int32Array(buffer, 0, LAST_PART + 1);
  const parts = new Map<number, Part>();
  let isBuilding = false;

  /** The part for a database with these ids; null if there is none. */
  function partFor(greatestId: number): Part | null {
    const number = Math.max(FIRST_PART, Math.ceil(Math.log2(greatestId)));
    if (number > LAST_PART) return null;
    let part = parts.get(number);
    if (part === undefined) {
      reserve(buffer, endBytesOf(number));
      const start = firstWordOf(number);
      const words = new Int32Array(buffer, start * Int32Array.BYTES_PER_ELEMENT, start);
      part = { upTo: number, filter: createUrlFilter(words) };
      parts.set(number, part);
    }
    return part;
  }

  /** Adds the next rows. Threads may add the same rows at the same time. */
  function addNext({ upTo, filter }: Part): void {
    const from = Atomics.load(front, upTo);
    const rows = next.all(from);
    const known = from === 0 ? undefined : rows.shift();
    if (from > 0 && (known?.[0] !== from || !filter.mayHave(known[1]))) return void Atomics.store(front, STALE, 1);
    for (const [, url] of rows) filter.add(url);
    raise(front, upTo, rows.at(-1)?.[0] ?? from);
  }

  /** The filter with all URLs of this transaction; null if it lacks too many. */
  function current(): UrlFilter | null {
    const [id, url] = newest.get() ?? [0, ''];
    const part = partFor(id);
    if (part === null || Atomics.load(front, STALE) === 1) return null;
    const missing = id - Atomics.load(front, part.upTo);
    if (missing > STEP_ROWS) {
      if (!isBuilding) buildNext();
      return null;
    }
    if (missing > 0) addNext(part);
    else if (id > 0 && !part.filter.mayHave(url)) Atomics.store(front, STALE, 1);
    return Atomics.load(front, STALE) === 1 ? null : part.filter;
  }

  /** One step for each iteration of the event loop. */
  function buildNext(): void {
    isBuilding = true;
    setImmediate(() => {
      isBuilding = false;
      try {
        const part = partFor(newest.get()?.[0] ?? 0);
        if (part === null || Atomics.load(front, STALE) === 1) return;
        addNext(part);
        current(); // goes on if it still lacks too many
      } catch {} // closed or damaged; the next lookup reports it
    }).unref();
  }

  return {
    candidates(urls) {
      const filter = current();
      const places: number[] = [];
      for (let i = 0; i < urls.length; i++) if (filter === null || filter.mayHave(urls[i] as string)) places.push(i);
      return places;
    },
  };
}

/** Another thread may reserve more at the same time; less than the current length is an error. */
function reserve(buffer: SharedArrayBuffer, bytes: number): void {
  try {
    if (buffer.byteLength < bytes) buffer.grow(bytes);
  } catch (error) {
    if (buffer.byteLength < bytes) throw error;
  }
}

function raise(values: Int32Array, at: number, value: number): void {
  for (let was = Atomics.load(values, at); was < value; ) {
    const seen = Atomics.compareExchange(values, at, was, value);
    if (seen === was) return;
    was = seen;
  }
}
