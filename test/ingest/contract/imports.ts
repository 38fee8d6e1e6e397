import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Control } from '../../../src/app/stores.ts';
import { type ImportStart, NO_COUNTS, type Reject } from '../../../src/ingest/store.ts';
import type { OpenControl } from '../../app/control-contract.ts';

const START: ImportStart = { format: 'urlhaus-csv', feed: 'haus', source: 'dump.csv', startedTs: 100 };

const UNFINISHED = { finishedTs: null, outcome: null, counts: NO_COUNTS, error: null };

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
        { ...START, id: first, ...end },
      ]);
      assert.deepEqual(await idsOf(control, { limit: 2 }), [third, second]);
      assert.deepEqual(await idsOf(control, { feed: 'haus', limit: 10 }), [third, first]);
      assert.deepEqual(await control.import(first), { ...START, id: first, ...end });
      assert.equal(await control.import(third + 1), null);
    });

    test('rejects are returned per import in insertion order', async (t) => {
      const control = await open(t);
      const [one, two] = [await control.importStarted(START), await control.importStarted(START)];
      const rejects = Array.from({ length: 1_200 }, (_, i) => ({ line: 2_000 - i, reason: 'r', text: `"${i}\t` }));
      await control.addRejects(one, rejects.slice(0, 700));
      await control.addRejects(two, rejects.slice(0, 1));
      await control.addRejects(one, rejects.slice(700));
      assert.deepEqual(await rejectsOf(control, one), rejects);
      assert.deepEqual(await rejectsOf(control, two), rejects.slice(0, 1));
      assert.deepEqual(await rejectsOf(control, two + 1), []);
    });

    test('rejects of concurrent batches keep the order of the calls', async (t) => {
      const control = await open(t);
      const id = await control.importStarted(START);
      const batches = Array.from({ length: 10 }, (_, batch) =>
        Array.from({ length: 30 }, (_, i) => ({ line: batch * 30 + i, reason: 'r', text: '' })),
      );
      await Promise.all(batches.map((batch) => control.addRejects(id, batch)));
      assert.deepEqual(await rejectsOf(control, id), batches.flat());
    });

    test('messages may contain any character', async (t) => {
      const control = await open(t);
      const id = await control.importStarted(START);
      await control.addRejects(id, [{ line: 1, reason: 'a "\0", {b}\\', text: 'null' }]);
      await control.importFinished(id, { finishedTs: 1, outcome: 'failed', counts: NO_COUNTS, error: 'a\0' });
      const [reject] = await rejectsOf(control, id);
      assert.match(reject?.reason ?? '', /^a "[\0\ufffd]", \{b\}\\$/);
      assert.equal(reject?.text, 'null');
      assert.match((await control.import(id))?.error ?? '', /^a[\0\ufffd]$/);
    });

    test('the newest hundred of each feed are kept; older ones are deleted with their rejects', async (t) => {
      const control = await open(t);
      const other = await control.importStarted({ ...START, feed: 'other' });
      const ids: number[] = [];
      for (let i = 0; i < 102; i++) {
        const id = await control.importStarted(START);
        await control.addRejects(id, [{ line: i, reason: 'r', text: '' }]);
        ids.push(id);
      }
      assert.deepEqual(await idsOf(control, { feed: 'haus', limit: 1_000 }), ids.slice(2).reverse());
      assert.deepEqual(await idsOf(control, { feed: 'other', limit: 1_000 }), [other]);
      assert.deepEqual(await rejectsOf(control, ids[1] ?? 0), []);
      assert.equal((await rejectsOf(control, ids[2] ?? 0)).length, 1);
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
