import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { byTime, type StatusObservation } from '../../src/core/observation.ts';
import { onlineSpan } from '../../src/urls/sighting-rules.ts';
import { kindCode, timelineChange } from '../../src/urls/stored-timeline.ts';
import { type Entry, type ImpliedOffline, inOrder } from '../../src/urls/timeline.ts';

const ts = fc.integer({ min: 10, max: 30 });

const BATCH = fc.record({
  observations: fc.array(
    fc.record({
      ts,
      status: fc.constantFrom('online' as const, 'online' as const, 'offline' as const, 'removed' as const),
      removal: fc.constant(''),
      reporter: fc.constantFrom('ada', 'rita'),
    }),
    { maxLength: 4 },
  ),
  /** The implied offline after the batch. */
  implied: fc.option(fc.record({ ts, reporter: fc.constant('feed') })),
});

test('the span of the entries is that of the online observations, whatever came between them, in any order', () => {
  let seenOnline = 0;
  fc.assert(
    fc.property(fc.array(BATCH, { minLength: 1, maxLength: 6 }), (batches) => {
      let timeline: readonly Entry[] = [];
      let before: ImpliedOffline | null = null;
      const online: number[] = [];
      let [firstTs, lastTs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (const { observations, implied } of batches) {
        const change = timelineChange(timeline, observations.toSorted(byTime), { before, after: implied });
        before = implied;
        timeline = applied(timeline, change);
        online.push(...onlineTimes(observations));
        const span = onlineSpan(timeline);
        if (online.length === 0) assert.equal(span, null);
        else assert.deepEqual(span, { firstTs: Math.min(...online), lastTs: Math.max(...online) });
        // What a store keeps: it sees only the entries that change.
        const changed = onlineSpan(change.upserts);
        if (changed !== null)
          [firstTs, lastTs] = [Math.min(firstTs, changed.firstTs), Math.max(lastTs, changed.lastTs)];
        if (span !== null) assert.deepEqual({ firstTs, lastTs }, span);
        seenOnline += online.length;
      }
    }),
    { numRuns: 5_000, seed: 13 },
  );
  assert.ok(seenOnline > 5_000);
});

const onlineTimes = (observations: readonly StatusObservation[]) =>
  observations.filter(({ status }) => status === 'online').map((one) => one.ts);

/** The timeline after its rows were written. */
function applied(
  timeline: readonly Entry[],
  { upserts, deletes }: Pick<ReturnType<typeof timelineChange>, 'upserts' | 'deletes'>,
): readonly Entry[] {
  const keyOf = (entry: Entry) => `${entry.ts} ${entry.kind}`;
  const rows = new Map(timeline.map((entry) => [keyOf(entry), entry]));
  for (const entry of deletes) rows.delete(keyOf(entry));
  for (const entry of upserts) rows.set(keyOf(entry), entry);
  return inOrder([...rows.values()].sort((a, b) => a.ts - b.ts || kindCode(a) - kindCode(b)));
}
