import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openControl } from '../../src/app/stores.ts';
import { createFetchTimes, type KeyFetch } from '../../src/exports/fetch-times.ts';
import { ADA } from '../app/control-records.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const fetchAt = (ts: number) => ({ ts, address: '192.0.2.1', etag: `"${ts}"` });

test('a thousand fetches of two keys are one write, with the newest of each key', async () => {
  const writes: KeyFetch[][] = [];
  const times = createFetchTimes(async (fetches) => void writes.push(fetches), 20);
  for (let i = 0; i < 1_000; i++) times.add(i % 2, fetchAt(i));
  assert.deepEqual(writes, []);
  await until(() => writes.length > 0, 'written');
  const expected = [
    { id: 0, ...fetchAt(998) },
    { id: 1, ...fetchAt(999) },
  ];
  assert.deepEqual(writes, [expected]);
  await times.close();
  assert.deepEqual(writes, [expected], 'nothing is left');
});

test('what could not be written is written later, unless there is a newer fetch', async () => {
  const written: KeyFetch[] = [];
  let isDown = true;
  const times = createFetchTimes(async (fetches) => {
    if (isDown) {
      isDown = false;
      times.add(2, { ...fetchAt(1), etag: '"newer"' });
      throw new Error('the database is down');
    }
    written.push(...fetches);
  }, 10);
  times.add(1, fetchAt(1));
  times.add(2, fetchAt(1));
  await until(() => written.length > 0, 'a later attempt');
  assert.deepEqual(
    written.toSorted((a, b) => a.id - b.id),
    [
      { id: 1, ...fetchAt(1) },
      { id: 2, ...fetchAt(1), etag: '"newer"' },
    ],
  );
  await times.close();
});

test('close writes the rest together with what fails meanwhile, once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const down = Promise.withResolvers<void>();
  const writes: number[][] = [];
  const times = createFetchTimes(async (fetches) => {
    writes.push(fetches.map(({ id }) => id));
    await down.promise;
  }, 10);
  times.add(1, fetchAt(1));
  t.mock.timers.tick(10);
  times.add(2, fetchAt(2));
  const closed = times.close();
  down.reject(new Error('the database is down'));
  await closed;
  t.mock.timers.tick(10);
  assert.deepEqual(writes, [[1], [2, 1]]);
});

test('the embedded store writes the last fetch when it is closed', async (t) => {
  const folder = temporaryFolder(t);
  const control = await openControl({ dataDir: folder });
  await control.addAccount(ADA);
  const hash = new Uint8Array(32);
  const id = await control.addListKey({ list: 'urls-online', device: 'x', sub: ADA.sub, createdTs: 1 }, hash);
  await control.recordFetch(id, fetchAt(5));
  assert.equal((await control.listKey(id))?.lastFetch, null);
  await control.close();
  const again = await temporaryControl(t, folder);
  assert.deepEqual((await again.findListKey(hash))?.lastFetch, fetchAt(5));
});
