import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StatusObservation } from '../../src/core/observation.ts';
import { FIRST_HIDDEN_KIND } from '../../src/urls/store.ts';
import {
  ENTRY_KINDS,
  firstChangeTs,
  isOnline,
  kindCode,
  OFFLINE_AGAIN_KIND,
  timelineChange,
  toEntry,
} from '../../src/urls/stored-timeline.ts';
import type { Entry, ImpliedChange } from '../../src/urls/timeline.ts';

const observed = (
  status: StatusObservation['status'],
  ts: number,
  removal = '',
  reporter = 'ada',
): StatusObservation => ({
  ts,
  status,
  removal,
  reporter,
});
const entry = (
  kind: Entry['kind'],
  ts: number,
  confirmedTs: number | null = ts,
  removal = '',
  reporter = 'ada',
): Entry => ({
  ts,
  kind,
  removal,
  reporter,
  confirmedTs,
});
const dropped = (ts: number): ImpliedChange => ({ before: null, after: { ts, reporter: 'feed' } });
const listedAgain = (ts: number): ImpliedChange => ({ before: { ts, reporter: 'feed' }, after: null });

type Case = {
  name: string;
  before: Entry[];
  observations?: StatusObservation[];
  implied?: ImpliedChange;
  upserts?: Entry[];
  deletes?: Entry[];
  events: number;
  last: Entry | null | undefined;
};

const ADDED = entry('added', 10);
const REMOVED = entry('removed', 20, 20, 'abuse');
const OFF = entry('offline', 20, null, '', 'feed');

const CASES: Case[] = [
  {
    name: 'the first observation',
    before: [],
    observations: [observed('online', 10)],
    upserts: [ADDED],
    events: 1,
    last: ADDED,
  },
  {
    name: 'the same observation again',
    before: [ADDED],
    observations: [observed('online', 10)],
    events: 0,
    last: undefined,
  },
  {
    name: 'a confirmation is stored and changes no event',
    before: [ADDED],
    observations: [observed('online', 15)],
    upserts: [entry('added', 10, 15)],
    events: 0,
    last: undefined,
  },
  {
    name: 'another reporter at the same time changes the event',
    before: [entry('added', 10, 10, '', 'bob')],
    observations: [observed('online', 10)],
    upserts: [ADDED],
    events: 1,
    last: ADDED,
  },
  {
    name: 'a reason that arrives later changes the event',
    before: [ADDED, entry('removed', 20)],
    observations: [observed('removed', 20, 'abuse')],
    upserts: [REMOVED],
    events: 1,
    last: REMOVED,
  },
  {
    name: 'an earlier observation moves the first event',
    before: [ADDED],
    observations: [observed('online', 5)],
    upserts: [entry('added', 5, 10)],
    deletes: [ADDED],
    events: 2,
    last: entry('added', 5, 10),
  },
  {
    name: 'a hidden entry changes no event',
    before: [ADDED, REMOVED],
    observations: [observed('offline', 30)],
    upserts: [entry('offline_after_removal', 30)],
    events: 0,
    last: undefined,
  },
  {
    name: 'the newest event is the last entry that is not hidden',
    before: [entry('offline_after_removal', 30)],
    observations: [observed('online', 40), observed('removed', 50, 'abuse'), observed('offline', 60)],
    upserts: [entry('added', 40), entry('removed', 50, 50, 'abuse'), entry('offline_after_removal', 60)],
    events: 2,
    last: entry('removed', 50, 50, 'abuse'),
  },
  { name: 'a feed drops it', before: [ADDED], implied: dropped(20), upserts: [OFF], events: 1, last: OFF },
  {
    name: 'a feed lists it again',
    before: [ADDED, OFF],
    implied: listedAgain(20),
    deletes: [OFF],
    events: 1,
    last: ADDED,
  },
  {
    name: 'an observation does not change the implied offline',
    before: [ADDED, OFF],
    observations: [observed('online', 12)],
    upserts: [entry('added', 10, 12)],
    events: 0,
    last: undefined,
  },
  {
    name: 'no entry is left',
    before: [entry('added', 20, null, '', 'feed'), OFF],
    implied: listedAgain(20),
    deletes: [entry('added', 20, null, '', 'feed'), OFF],
    events: 2,
    last: null,
  },
];

/** Cases in which a run begins, or begins at another time. */
const SEEN_AGAIN: ReadonlySet<string> = new Set([
  'the first observation',
  'an earlier observation moves the first event',
  'the newest event is the last entry that is not hidden',
]);

for (const { name, before, observations = [], implied = null, upserts = [], deletes = [], events, last } of CASES) {
  test(`timelineChange: ${name}`, () => {
    const { isLastChanged, isSeenAgain, ...change } = timelineChange(before, observations, implied);
    assert.deepEqual(change, { upserts, deletes, eventsChanged: events, last });
    assert.equal(isLastChanged, last !== undefined);
    assert.equal(isSeenAgain, SEEN_AGAIN.has(name));
  });
}

test('timelineChange: an older event changes, the last one does not', () => {
  const { eventsChanged, isLastChanged } = timelineChange([ADDED, REMOVED], [observed('offline', 15)], null);
  assert.deepEqual({ eventsChanged, isLastChanged }, { eventsChanged: 1, isLastChanged: false });
});

test('timelineChange: a run is recorded again when its end is in another hour since it began', () => {
  const isSeenAgain = (confirmedTs: number, ts: number) =>
    timelineChange([entry('added', 10, confirmedTs)], [observed('online', ts)], null).isSeenAgain;
  assert.equal(isSeenAgain(10, 3_609), false);
  assert.equal(isSeenAgain(10, 3_610), true);
  assert.equal(isSeenAgain(3_700, 7_209), false);
  assert.equal(isSeenAgain(3_700, 3_650), false);
});

for (const [observations, implied, first] of [
  [[observed('online', 10), observed('online', 20)], null, 10],
  [[observed('online', 10)], dropped(5), 5],
  [[observed('online', 10)], dropped(15), 10],
  [[], listedAgain(7), 7],
  [[], { before: { ts: 9, reporter: 'a' }, after: { ts: 8, reporter: 'a' } }, 8],
] as [StatusObservation[], ImpliedChange | null, number][]) {
  test(`firstChangeTs: ${first}`, () => assert.equal(firstChangeTs(observations, implied), first));
}

test('every kind is stored as a code and read again', () => {
  for (const kind of ENTRY_KINDS) {
    const one = entry(kind, 10, null, 'abuse');
    assert.deepEqual(toEntry([10, kindCode(one), 'abuse', 'ada', null]), one);
  }
});

test('the codes of the kinds: online first, hidden last', () => {
  assert.deepEqual(ENTRY_KINDS.slice(FIRST_HIDDEN_KIND), ['offline_after_removal', 'removed_again', 'offline_again']);
  assert.equal(ENTRY_KINDS[OFFLINE_AGAIN_KIND], 'offline_again');
  assert.deepEqual(
    ENTRY_KINDS.filter((_, code) => isOnline(code)),
    ['added', 'online'],
  );
  assert.equal(isOnline(null), false);
});
