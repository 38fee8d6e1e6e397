import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { byTime, type StatusObservation } from '../../src/core/observation.ts';
import { ENTRY_KINDS } from '../../src/urls/stored-timeline.ts';
import { advance, type Entry, type ImpliedOffline, isEvent, runsWithImplied } from '../../src/urls/timeline.ts';
import { timelines } from '../vectors/timeline.ts';

const RANK = { online: 0, offline: 1, removed: 2 };

for (const { why, arrive, events } of timelines) {
  test(`timeline: ${why}`, () => {
    const entries = arrive.map(parse).reduce<Entry[]>((tail, seen) => advance(tail, [seen]), []);
    assert.deepEqual(entries.filter(isEvent).map(print), events);
  });
}

const observation: fc.Arbitrary<StatusObservation> = fc
  .record({
    ts: fc.integer({ min: 1, max: 12 }),
    status: fc.constantFrom('online' as const, 'offline' as const, 'removed' as const),
    removal: fc.constantFrom('', 'abuse', 'takedown'),
    reporter: fc.constantFrom('ada', 'bob'),
  })
  .map((seen) => (seen.status === 'removed' ? seen : { ...seen, removal: '' }));
const observations = fc.array(observation, { minLength: 1, maxLength: 12 });

test('observations in order have the events of the table of transitions', () => {
  fc.assert(
    fc.property(observations, (seen) => {
      const inOrder = seen.toSorted(byTime);
      const arrived = inOrder.reduce<Entry[]>((tail, one) => advance(tail, [one]), []);
      assert.deepEqual(withoutConfirmations(arrived), byTheTable(seen));
    }),
    { numRuns: 2000 },
  );
});

test('the last status and its removal are the same in any order of arrival', () => {
  fc.assert(
    fc.property(shuffled(observations), ([seen, shuffledSeen]) => {
      const arrived = shuffledSeen.reduce<Entry[]>((tail, one) => advance(tail, [one]), []);
      const { kind, removal } = arrived.filter(isEvent).at(-1) as Entry;
      const expected = byTheTable(seen).at(-1);
      assert.deepEqual(
        { status: statusOf(kind), removal },
        { status: statusOf(expected?.kind), removal: expected?.removal },
      );
    }),
    { numRuns: 5000 },
  );
});

test('an observation that arrives twice in a row changes nothing', () => {
  fc.assert(
    fc.property(observations, observation, (seen, again) => {
      const once = advance(
        seen.reduce<Entry[]>((tail, one) => advance(tail, [one]), []),
        [again],
      );
      assert.deepEqual(advance(once, [again]), once);
    }),
  );
});

test('a batch in order of time that is applied again changes no event', () => {
  fc.assert(
    fc.property(observations, observations, (earlier, batch) => {
      const inOrder = batch.toSorted(byTime);
      const once = advance(advance([], earlier), inOrder);
      assert.deepEqual(withoutConfirmations(advance(once, inOrder)), withoutConfirmations(once));
    }),
    { numRuns: 2000 },
  );
});

test('a tail from any ts before the observation is enough to place it', () => {
  fc.assert(
    fc.property(observations, observation, (seen, late) => {
      const whole = advance([], seen);
      const from = Math.max(-1, ...whole.filter((entry) => entry.ts < late.ts).map((entry) => entry.ts));
      const head = whole.filter((entry) => entry.ts < from);
      const tail = whole.filter((entry) => entry.ts >= from);
      assert.deepEqual([...head, ...advance(tail, [late])], advance(whole, [late]));
    }),
    { numRuns: 2000 },
  );
});

const implied: fc.Arbitrary<ImpliedOffline | null> = fc.option(
  fc.record({ ts: fc.integer({ min: 1, max: 12 }), reporter: fc.constant('feed') }),
);
/** Observations, and sometimes a listing that sets, moves or cancels the implied offline. */
const steps = fc.array(fc.oneof(observation, fc.record({ implied })), { minLength: 1, maxLength: 12 });

function follow(entries: Entry[], step: StatusObservation | { implied: ImpliedOffline | null }): Entry[] {
  return asStored('implied' in step ? advance(entries, [], step.implied) : advance(entries, [step]));
}

/** A store returns entries in order of ts and code of kind. */
function asStored(entries: Entry[]): Entry[] {
  return entries.toSorted((a, b) => a.ts - b.ts || ENTRY_KINDS.indexOf(a.kind) - ENTRY_KINDS.indexOf(b.kind));
}

test('an implied offline that moves to an earlier time leaves no event at the later one', () => {
  const seen = advance([], [parse('online@10'), parse('online@40')]);
  const moved = [30, 20].reduce<Entry[]>((entries, ts) => follow(entries, { implied: { ts, reporter: 'feed' } }), seen);
  assert.deepEqual(moved.filter(isEvent).map(print), ['added@10', 'offline@20', 'online@40']);
  assert.deepEqual(moved.map(print), ['added@10', 'offline@20', 'online@40'], 'also no hidden entry');
  const renamed = follow(moved, { implied: { ts: 20, reporter: 'another' } });
  assert.deepEqual(
    renamed.map(({ reporter, ...entry }) => `${print({ reporter, ...entry })} ${reporter}`),
    ['added@10 ada', 'offline@20 another', 'online@40 ada'],
  );
  const back = follow(moved, { implied: null });
  assert.deepEqual(
    back.filter(isEvent).map(print),
    ['added@10', 'offline@20', 'online@40'],
    'it was online again later',
  );
});

test('the last status depends only on the last implied offline, not on earlier ones', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const entries = all.reduce<Entry[]>(follow, []);
      const last = all.findLast((step) => 'implied' in step)?.implied ?? null;
      const observed = all.filter((step) => 'ts' in step);
      const seen = last === null ? observed : [...observed, offlineAt(last)];
      const expected = byTheTable(seen).at(-1);
      const { kind, removal } = entries.filter(isEvent).at(-1) ?? {};
      assert.deepEqual(
        { status: kind && statusOf(kind), removal },
        { status: expected && statusOf(expected.kind), removal: expected?.removal },
      );
    }),
    { numRuns: 10_000 },
  );
});

test('consecutive events differ, with any implied offline', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const kinds = all.reduce<Entry[]>(follow, []).filter(isEvent);
      for (const [i, { kind }] of kinds.entries()) {
        const before = kinds[i - 1]?.kind;
        const isAfterOnline = before === 'added' || before === 'online';
        assert.ok(kind === 'added' ? !isAfterOnline : kind === 'online' ? before === 'offline' : before !== kind);
        if (kind === 'offline') assert.ok(isAfterOnline);
      }
    }),
    { numRuns: 5000 },
  );
});

test('with an implied offline a tail is enough, and keys are unique', () => {
  fc.assert(
    fc.property(steps, observation, implied, (all, late, next) => {
      const whole = all.reduce<Entry[]>(follow, []);
      const old = whole.find(({ kind, confirmedTs }) => confirmedTs === null && kind !== 'added');
      const first = Math.min(late.ts, old?.ts ?? 99, next?.ts ?? 99);
      const isHidden = (entry: Entry) => entry.kind === 'offline_again' && entry.confirmedTs === null;
      const from = Math.max(-1, ...whole.filter((one) => one.ts < first && !isHidden(one)).map(({ ts }) => ts));
      const byKey = (ts: number) => whole.filter((one) => one.ts < from === ts < from);
      const result = [...byKey(from - 1), ...advance(byKey(from), [late], next)];
      assert.deepEqual(asStored(result), asStored(advance(whole, [late], next)));
      assert.equal(new Set(result.map(({ ts, kind }) => `${ts} ${kind}`)).size, result.length);
    }),
    { numRuns: 5000 },
  );
});

test('an exported timeline that is applied again is the same, and so is its export', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const entries = all.reduce<Entry[]>(follow, []);
      const exported = runsWithImplied(entries).flatMap(({ confirmedTs, ...run }) =>
        confirmedTs === run.ts ? [run] : [run, { ...run, ts: confirmedTs }],
      );
      assert.deepEqual(exported, exported.toSorted(byTime));
      const again = exported.reduce<Entry[]>((tail, one) => advance(tail, [one]), []);
      assert.deepEqual(withoutConfirmations(again), withoutConfirmations(entries));
      assert.deepEqual(runsWithImplied(again), runsWithImplied(entries));
    }),
    { numRuns: 5000 },
  );
});

test('entries stay in order and no two share a time and a kind', () => {
  fc.assert(
    fc.property(observations, (seen) => {
      const order = ['added', 'online', 'offline', 'removed', 'offline_after_removal', 'removed_again'];
      const keys = advance([], seen).map(({ ts, kind }) => ts * 10 + order.indexOf(kind));
      assert.deepEqual(
        keys,
        [...new Set(keys)].sort((a, b) => a - b),
      );
    }),
  );
});

/** The expected events: the table of transitions applied to all observations in order. */
function byTheTable(seen: StatusObservation[]) {
  const better = (one: StatusObservation) => `${one.removal === '' ? 1 : 0}${one.removal} ${one.reporter}`;
  const sorted = seen.toSorted(
    (a, b) => a.ts - b.ts || RANK[a.status] - RANK[b.status] || (better(a) < better(b) ? -1 : 1),
  );
  const events: { ts: number; kind: string; removal: string; reporter: string }[] = [];
  let state = 'unknown';
  for (const { ts, status, removal, reporter } of sorted) {
    const write = (kind: string) => events.push({ ts, kind, removal: kind === 'removed' ? removal : '', reporter });
    if (state === 'unknown') {
      write('added');
      if (status !== 'online') write(status);
      state = status;
    } else if (state === 'removed') {
      if (status === 'online') {
        write('added');
        state = 'online';
      }
    } else if (state !== status) {
      write(status);
      state = status;
    }
  }
  return events;
}

function offlineAt({ ts, reporter }: ImpliedOffline): StatusObservation {
  return { ts, status: 'offline', removal: '', reporter };
}

function withoutConfirmations(entries: Entry[]) {
  return entries.filter(isEvent).map(({ ts, kind, removal, reporter }) => ({ ts, kind, removal, reporter }));
}

test('an observation before a long timeline is not compared with each of its runs', () => {
  const runs = 2_000;
  const seenAt = (ts: number) => parse(`${ts % 2 === 0 ? 'online' : 'offline'}@${ts}`);
  const tail = advance(
    [],
    Array.from({ length: runs }, (_, i) => seenAt(1_000 + i)),
  );
  let reads = 0;
  const observed = {
    ...seenAt(500),
    get ts() {
      reads++;
      return 500;
    },
  };
  assert.equal(advance(tail, [observed]).length, runs);
  assert.ok(reads < 50, `${reads}`);
});

function statusOf(kind: string | undefined): string {
  return kind === 'added' || kind === 'online' ? 'online' : 'offline';
}

function shuffled<T>(list: fc.Arbitrary<T[]>): fc.Arbitrary<[T[], T[]]> {
  return list.chain((items) =>
    fc.tuple(fc.constant(items), fc.shuffledSubarray(items, { minLength: items.length, maxLength: items.length })),
  );
}

/** `offline@20`, `removed@30 abuse`: the notation of the table. */
function parse(text: string): StatusObservation {
  const [, status, ts, removal] = /^(\w+)@(\d+)(?: (\w+))?$/.exec(text) as RegExpExecArray;
  return { ts: Number(ts), status: status as StatusObservation['status'], removal: removal ?? '', reporter: 'ada' };
}

function print({ kind, ts, removal }: Entry): string {
  return `${kind}@${ts}${removal && ` ${removal}`}`;
}
