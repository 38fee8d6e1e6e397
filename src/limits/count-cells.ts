import { MAX_THREADS } from '../config/settings.ts';
import { type Counts, type Policy, WINDOWS, type WindowName, windowIndex } from '../core/quota.ts';
import type { Admission, Reading } from './store.ts';

// The counts of accounts, in memory that all threads of the process share. Each account has one place:
//
//     lock                    which thread uses the place now
//     5 × window and count    queries, from second to month
//     1 × second and count    calls that are not queries
//     2 × day and count       queries that are not in the store yet, of even and of odd days
//     64 × streams            open streams by thread
//
// Every function takes the lock first. It is held for less than a microsecond: nothing inside waits.

/** Where an account is. A buffer has a thousand places: a buffer for each account would take 1 kB. */
export type Place = { buffer: SharedArrayBuffer; bufferNumber: number; slot: number };

/** A place, as a thread reads and writes it. */
export type Cells = Views & { slot: number };

/** All places of a buffer. */
type Views = { ints: Int32Array; floats: Float64Array; bytes: Uint8Array };

export const SLOTS_PER_BUFFER = 1_000;

const DAY = WINDOWS.indexOf('day');
const CALLS = 1 + 2 * WINDOWS.length;
const UNWRITTEN = CALLS + 2;
const FLOATS_BEFORE_STREAMS = UNWRITTEN + 4;
const STREAMS = FLOATS_BEFORE_STREAMS * Float64Array.BYTES_PER_ELEMENT;
const SLOT_BYTES = STREAMS + MAX_THREADS;
const SLOT_FLOATS = SLOT_BYTES / Float64Array.BYTES_PER_ELEMENT;
const SLOT_INTS = SLOT_BYTES / Int32Array.BYTES_PER_ELEMENT;

/** A clock is corrected by less than this while it runs. */
export const SET_BACK_SECONDS_MAX = 60;

const FREE = 0;
/** Some microseconds. After that the thread that has the lock was probably suspended by the system. */
const SPINS = 1_000;
const SUSPENDED_WAIT_MS = 1;

export const createBuffer = (): SharedArrayBuffer => new SharedArrayBuffer(SLOTS_PER_BUFFER * SLOT_BYTES);

/** Finds the cells of places. A thread needs one of these functions: it keeps the views of each buffer. */
export function createCellFinder(): (place: Place) => Cells {
  const byNumber: Views[] = [];
  return ({ buffer, bufferNumber, slot }) => {
    byNumber[bufferNumber] ??= {
      ints: new Int32Array(buffer),
      floats: new Float64Array(buffer),
      bytes: new Uint8Array(buffer),
    };
    return { ...byNumber[bufferNumber], slot };
  };
}

/** Admits a query if every count is below its limit, and then adds its weight to all of them. */
export function take(cells: Cells, thread: number, ts: number, policies: readonly Policy[], weight: number): Admission {
  lock(cells, thread);
  roll(cells, ts);
  const isAdmitted = policies.every(({ window, limit }) => countIn(cells, window) < limit);
  if (isAdmitted) {
    for (let i = 0; i < WINDOWS.length; i++) add(cells, windowAt(i) + 1, weight);
    addUnwritten(cells, ts, weight);
  }
  const counts = countsOf(cells);
  unlock(cells);
  return { isAdmitted, counts, ts };
}

export function read(cells: Cells, thread: number, ts: number): Reading {
  lock(cells, thread);
  roll(cells, ts);
  const counts = countsOf(cells);
  unlock(cells);
  return { counts, ts };
}

/** Subtracts from the day and the month of `ts`. */
export function refund(cells: Cells, thread: number, ts: number, weight: number): void {
  lock(cells, thread);
  for (const window of ['day', 'month'] as const) {
    const at = windowAt(WINDOWS.indexOf(window));
    if (get(cells, at) === windowIndex(window, ts)) add(cells, at + 1, -weight);
  }
  addUnwritten(cells, ts, -weight);
  unlock(cells);
}

/** Counts a call in its second. A clock that was set back a little does not start a second again. */
export function takeCall(cells: Cells, thread: number, ts: number, limit: number): Admission {
  lock(cells, thread);
  if (ts > get(cells, CALLS) || isFarBefore(ts, get(cells, CALLS))) {
    set(cells, CALLS, ts);
    set(cells, CALLS + 1, 0);
  }
  const isAdmitted = get(cells, CALLS + 1) < limit;
  if (isAdmitted) add(cells, CALLS + 1, 1);
  const second = get(cells, CALLS + 1);
  unlock(cells);
  return { isAdmitted, counts: { second, minute: 0, hour: 0, day: 0, month: 0 }, ts };
}

/** Adds to the counts for the store only: the queries are counted elsewhere. */
export function addForStore(cells: Cells, thread: number, ts: number, count: number): void {
  lock(cells, thread);
  addUnwritten(cells, ts, count);
  unlock(cells);
}

/** False if the account has this many streams on all threads together. */
export function openStream(cells: Cells, thread: number, max: number): boolean {
  const first = streamsAt(cells);
  lock(cells, thread);
  let open = 0;
  for (let i = 0; i < MAX_THREADS; i++) open += cells.bytes[first + i] as number;
  const isOpened = open < max;
  if (isOpened) (cells.bytes[first + thread] as number)++;
  unlock(cells);
  return isOpened;
}

export function closeStream(cells: Cells, thread: number): void {
  lock(cells, thread);
  (cells.bytes[streamsAt(cells) + thread] as number)--;
  unlock(cells);
}

/** The day of the cells is that of a clock that was ahead: the counts of today are in the store only. */
export function isAhead(cells: Cells, ts: number): boolean {
  return get(cells, windowAt(DAY)) > windowIndex('day', ts + SET_BACK_SECONDS_MAX);
}

/**
 * Raises the counts of the windows that have not ended to those of the reading. It may be older than what was counted
 * since, and counts only grow, so the greater one is used. After a clock that was ahead all windows begin again.
 */
export function raiseCounts(cells: Cells, thread: number, ts: number, reading: Reading): void {
  lock(cells, thread);
  if (isAhead(cells, ts)) for (let i = 0; i < WINDOWS.length; i++) set(cells, windowAt(i), 0);
  roll(cells, ts);
  WINDOWS.forEach((window, i) => {
    const at = windowAt(i);
    if (get(cells, at) !== windowIndex(window, reading.ts)) return;
    set(cells, at + 1, Math.max(get(cells, at + 1), reading.counts[window]));
  });
  unlock(cells);
}

/** Takes out the counts that are not in the store yet. */
export function takeUnwritten(cells: Cells, thread: number, use: (day: number, count: number) => void): void {
  // Without the lock: a count that is added now is found the next time.
  if (get(cells, UNWRITTEN + 1) === 0 && get(cells, UNWRITTEN + 3) === 0) return;
  lock(cells, thread);
  for (const at of [UNWRITTEN, UNWRITTEN + 2]) {
    const count = get(cells, at + 1);
    if (count !== 0) use(get(cells, at), count);
    set(cells, at + 1, 0);
  }
  unlock(cells);
}

/** For a thread that has ended: it holds no lock and has no streams. */
export function release(cells: Cells, thread: number): void {
  Atomics.compareExchange(cells.ints, lockAt(cells), thread + 1, FREE);
  cells.bytes[streamsAt(cells) + thread] = 0;
}

function lock(cells: Cells, thread: number): void {
  const { ints } = cells;
  const at = lockAt(cells);
  for (let tries = 1; ; tries++) {
    const holder = Atomics.compareExchange(ints, at, FREE, thread + 1);
    if (holder === FREE) return;
    if (tries % SPINS === 0) Atomics.wait(ints, at, holder, SUSPENDED_WAIT_MS);
  }
}

function unlock(cells: Cells): void {
  Atomics.store(cells.ints, lockAt(cells), FREE);
}

const lockAt = ({ slot }: Cells): number => slot * SLOT_INTS;
const streamsAt = ({ slot }: Cells): number => slot * SLOT_BYTES + STREAMS;
const windowAt = (window: number): number => 1 + 2 * window;

function get({ floats, slot }: Cells, at: number): number {
  return floats[slot * SLOT_FLOATS + at] as number;
}

function set({ floats, slot }: Cells, at: number, value: number): void {
  floats[slot * SLOT_FLOATS + at] = value;
}

function add(cells: Cells, at: number, value: number): void {
  set(cells, at, get(cells, at) + value);
}

/**
 * Resets the windows that have ended. A clock that was set back a little does not reset a window a second time. After one
 * that was ahead, second, minute and hour begin again: full ones would refuse every query until that time comes. Day and
 * month are read from the store then: `isAhead`.
 */
function roll(cells: Cells, ts: number): void {
  const newest = get(cells, windowAt(0));
  if (ts === newest) return; // the longer windows were checked in the same second
  const wasAhead = isFarBefore(ts, newest);
  WINDOWS.forEach((window, i) => {
    const index = windowIndex(window, ts);
    const current = get(cells, windowAt(i));
    const beginsAgain = wasAhead && window !== 'day' && window !== 'month';
    if (index === current || (index < current && !beginsAgain)) return;
    set(cells, windowAt(i), index);
    set(cells, windowAt(i) + 1, 0);
  });
}

const isFarBefore = (ts: number, newest: number): boolean => ts < newest - SET_BACK_SECONDS_MAX;

/**
 * Counts are taken out twice a second, so at most two days have some. If the clock jumps by two days or more, those of the
 * last half second are written for the new day.
 */
function addUnwritten(cells: Cells, ts: number, count: number): void {
  const day = windowIndex('day', ts);
  const at = UNWRITTEN + 2 * (day % 2);
  set(cells, at, day);
  add(cells, at + 1, count);
}

function countIn(cells: Cells, window: WindowName): number {
  return get(cells, windowAt(WINDOWS.indexOf(window)) + 1);
}

function countsOf(cells: Cells): Counts {
  const count = (window: number) => get(cells, windowAt(window) + 1);
  return { second: count(0), minute: count(1), hour: count(2), day: count(3), month: count(4) };
}
