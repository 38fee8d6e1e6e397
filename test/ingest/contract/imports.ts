import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Control } from '../../../src/app/stores.ts';
import { type ImportStart, NO_COUNTS, type Reject } from '../../../src/ingest/store.ts';
import type { OpenControl } from '../../app/control-contract.ts';

const START: ImportStart = { format: 'urlhaus-csv', feed: 'haus', source: 'dump.csv', startedTs: 100 };

const END = { finishedTs: 200, outcome: 'done', counts: NO_COUNTS, error: null } as const;

const UNFINISHED = { finishedTs: null, outcome: null, counts: NO_COUNTS, error: null, heartbeatTs: null };

export function controlImportsSuite(open: OpenControl): void {
  suite('imports', () => {
    test('are listed newest first, for one feed or for all, with their outcome', async (t) => {
      const control = await open(t);
      assert.deepEqual(await control.imports({ limit: 10 }), []);
      const ids: number[] = [];
      for (const feed of ['haus', 'other', 'haus']) ids.push(await control.importStarted({ ...START, feed }));
      const [first = 0, second = 0, third = 0] = ids;
      const end = { finishedTs: 200, outcome: 'failed', counts: { ...NO_COUNTS, read: 7 }, error: 'cut off' } as const;
      await control.importFinished(first, end);
      assert.deepEqual(await control.imports({ limit: 10 }), [
        { ...START, id: third, ...UNFINISHED },
        { ...START, feed: 'other', id: second, ...UNFINISHED },
        { ...START, id: first, ...end, heartbeatTs: null },
      ]);
      assert.deepEqual(await idsOf(control, { limit: 2 }), [third, second]);
      assert.deepEqual(await idsOf(control, { feed: 'haus', limit: 10 }), [third, first]);
      assert.deepEqual(await control.import(first), { ...START, id: first, ...end, heartbeatTs: null });
      assert.equal(await control.import(third + 1), null);
    });

    test('the freshness is that of the newest sighting and event of all imports, running ones too', async (t) => {
      const control = await open(t);
      assert.deepEqual(await control.freshness(), { newestEventTs: null, confirmedTs: null });
      const [first, second] = [await control.importStarted(START), await control.importStarted(START)];
      assert.deepEqual(await control.freshness(), { newestEventTs: null, confirmedTs: null });
      const counts = { ...NO_COUNTS, newestEventTs: 1_767_225_600, confirmedTs: 1_767_225_700 };
      await control.importFinished(first, { ...END, counts });
      assert.deepEqual(await control.freshness(), { newestEventTs: 1_767_225_600, confirmedTs: 1_767_225_700 });
      const later = { ...NO_COUNTS, newestEventTs: 90, confirmedTs: 1_767_225_800 };
      await control.importRunning(second, { heartbeatTs: 110, counts: later, writes: 0, recordedWrites: 0 });
      assert.deepEqual(await control.freshness(), { newestEventTs: 1_767_225_600, confirmedTs: 1_767_225_800 });
    });

    test('a running import records its counts', async (t) => {
      const control = await open(t);
      const [id, other] = [await control.importStarted(START), await control.importStarted(START)];
      const counts = { ...NO_COUNTS, read: 5 };
      assert.equal(await control.importRunning(id, { heartbeatTs: 110, counts, writes: 0, recordedWrites: 0 }), true);
      assert.deepEqual(await control.import(id), { ...START, id, ...UNFINISHED, counts, heartbeatTs: 110 });
      assert.deepEqual(await control.import(other), { ...START, id: other, ...UNFINISHED });
    });

    test('a running import notices that the database lacks writes that it has recorded', async (t) => {
      const control = await open(t);
      const id = await control.importStarted(START);
      const record = (writes: number, recordedWrites: number) =>
        control.importRunning(id, { heartbeatTs: 110, counts: NO_COUNTS, writes, recordedWrites });
      // The second and third are sent at the same time and arrive in the wrong order; the fourth is a heartbeat.
      for (const [writes, recorded] of [
        [1, 0],
        [3, 1],
        [2, 1],
        [3, 3],
      ] as const) {
        assert.equal(await record(writes, recorded), true);
      }
      assert.equal(await record(5, 4), false);
      assert.equal(await record(4, 3), true, 'nothing was changed');
      assert.equal(
        await control.importRunning(id + 1, { heartbeatTs: 1, counts: NO_COUNTS, writes: 0, recordedWrites: 0 }),
        false,
      );
    });

    test('rejects are returned per import in their order', async (t) => {
      const control = await open(t);
      const [one, two] = [await control.importStarted(START), await control.importStarted(START)];
      const rejects = Array.from({ length: 1_200 }, (_, i) => ({ line: 2_000 - i, reason: 'r', text: `"${i}\t` }));
      await control.addRejects(one, 0, rejects.slice(0, 700));
      await control.addRejects(two, 0, rejects.slice(0, 1));
      await control.addRejects(one, 700, rejects.slice(700));
      assert.deepEqual(await rejectsOf(control, one), rejects);
      assert.deepEqual(await rejectsOf(control, two), rejects.slice(0, 1));
      assert.deepEqual(await rejectsOf(control, two + 1), []);
    });

    test('rejects of concurrent batches keep their order', async (t) => {
      const control = await open(t);
      const id = await control.importStarted(START);
      const batches = Array.from({ length: 10 }, (_, batch) =>
        Array.from({ length: 30 }, (_, i) => ({ line: batch * 30 + i, reason: 'r', text: '' })),
      );
      const calls = batches.map((batch, i) => [i * 30, batch] as const).toReversed();
      await Promise.all(calls.map(([earlier, batch]) => control.addRejects(id, earlier, batch)));
      assert.deepEqual(await rejectsOf(control, id), batches.flat());
    });

    test('writes that are repeated change nothing', async (t) => {
      const control = await open(t);
      const id = await control.importStarted(START);
      const rejects = [1, 2, 3].map((line) => ({ line, reason: 'r', text: '' }));
      for (let i = 0; i < 2; i++) await control.addRejects(id, 0, rejects.slice(0, 2));
      for (let i = 0; i < 2; i++) await control.addRejects(id, 2, rejects.slice(2));
      assert.deepEqual(await rejectsOf(control, id), rejects);
      const end = { finishedTs: 120, outcome: 'done', counts: NO_COUNTS, error: null } as const;
      for (let i = 0; i < 2; i++) await control.importFinished(id, end);
      assert.deepEqual(await control.import(id), { ...START, id, ...end, heartbeatTs: null });
    });

    test('messages may contain any character', async (t) => {
      const control = await open(t);
      const id = await control.importStarted(START);
      await control.addRejects(id, 0, [{ line: 1, reason: 'a "\0", {b}\\', text: 'null' }]);
      await control.importFinished(id, { finishedTs: 1, outcome: 'failed', counts: NO_COUNTS, error: 'a\0' });
      const [reject] = await rejectsOf(control, id);
      assert.match(reject?.reason ?? '', /^a "[\0\ufffd]", \{b\}\\$/);
      assert.equal(reject?.text, 'null');
      assert.match((await control.import(id))?.error ?? '', /^a[\0\ufffd]$/);
    });

    test('the newest hundred of each feed are kept; older ones are deleted with their rejects, unless they are running', async (t) => {
      const control = await open(t);
      const other = await control.importStarted({ ...START, feed: 'other' });
      const ids: number[] = [];
      for (let i = 0; i < 102; i++) {
        const id = await control.importStarted(START);
        await control.addRejects(id, 0, [{ line: i, reason: 'r', text: '' }]);
        if (i !== 50) await control.importFinished(id, END);
        ids.push(id);
      }
      assert.deepEqual(await idsOf(control, { feed: 'haus', limit: 1_000 }), ids.slice(2).reverse());
      assert.deepEqual(await idsOf(control, { feed: 'other', limit: 1_000 }), [other]);
      assert.deepEqual(await rejectsOf(control, ids[1] ?? 0), []);
      assert.equal((await rejectsOf(control, ids[2] ?? 0)).length, 1);

      const laterAt = async (startedTs: number) =>
        control.importFinished(await control.importStarted({ ...START, startedTs }), END);
      for (let i = 0; i < 101; i++) await laterAt(START.startedTs + 120);
      assert.equal((await control.import(ids[50] ?? 0))?.outcome, null);
      await laterAt(START.startedTs + 121);
      assert.equal(await control.import(ids[50] ?? 0), null, 'without a heartbeat for two minutes');
    });
  });
}

async function idsOf(control: Control, filter: { feed?: string; limit: number }): Promise<number[]> {
  return (await control.imports(filter)).map(({ id }) => id);
}

async function rejectsOf(control: Control, importId: number): Promise<Reject[]> {
  const found: Reject[] = [];
  for await (const page of control.rejects(importId)) found.push(...page);
  return found;
}
