import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import type { Reader, Statement } from '../../src/database/sqlite/database.ts';
import type { DetailColumns } from '../../src/urls/file-rules.ts';
import { createFileCache } from '../../src/urls/sqlite/json-cache.ts';
import { recordJson } from '../../src/urls/wire.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hashOf, seen } from './contract/observations.ts';
import { historyOf } from './results.ts';

const URL = 'http://a.example/x';
const UNKNOWN = { mimeType: null, fileType: null, fileExt: null, fileSize: null, fileName: null, family: null };

test('a history shows details that another process has stored since the last one', async (t) => {
  const dataDir = temporaryFolder(t);
  const [ours, other] = [await openIntelligence({ dataDir }), await openIntelligence({ dataDir })];
  t.after(() => Promise.all([ours.close(), other.close()]));
  const nameOf = async () => (await historyOf(ours, URL))?.payloads[0]?.file_name;
  await ours.apply([seen({ ts: 10, url: URL, payload: { sha256: hashOf('a') } })]);
  assert.equal(await nameOf(), null);
  await other.applyFiles([{ ...UNKNOWN, sha256: hashOf('a'), fileName: 'a.sh' }]);
  assert.equal(await nameOf(), 'a.sh');
});

test('a file is read once while nothing is written, and again after another file used its slot', () => {
  let reads = 0;
  let version = 1;
  const query = {
    one: (id: number) => {
      reads++;
      return [null, null, null, null, `${id}`, null];
    },
  } as unknown as Statement<never>;
  const files = createFileCache({ prepare: () => query, version: () => version } as unknown as Reader);
  const nameOf = (id: number) => JSON.parse(recordJson(0, files.tailOf(id, null, null))).file_name;
  files.renew();
  assert.equal(nameOf(1), '1');
  files.renew();
  assert.equal(nameOf(1), '1');
  assert.equal(reads, 1);
  version = 2;
  files.renew();
  assert.equal(nameOf(1), '1');
  assert.equal(reads, 2);
  const SLOTS = 2 ** 15;
  for (let id = 2; id <= SLOTS; id++) files.tailOf(id, null, null);
  assert.equal(nameOf(1), '1');
  assert.equal(reads, SLOTS + 1);
  assert.equal(nameOf(SLOTS + 1), `${SLOTS + 1}`);
  assert.equal(nameOf(1), '1');
  assert.equal(reads, SLOTS + 3);
});

test('each detail of an observation wins, also an empty one; the others are those of the file', () => {
  const query = { one: () => ['a', 'b', 'c', 1, 'd', 'e'] } as unknown as Statement<never>;
  const files = createFileCache({ prepare: () => query } as unknown as Reader);
  const ofFile = JSON.parse(recordJson(1, files.tailOf(1, null, null)));
  const names = ['mime_type', 'file_type', 'file_ext', 'file_size', 'file_name'];
  for (const [i, name] of names.entries()) {
    const value = name === 'file_size' ? 0 : '';
    const own = names.map((_, j) => (i === j ? value : null)) as DetailColumns;
    const tail = files.tailOf(1, null, JSON.stringify(own));
    assert.deepEqual(JSON.parse(recordJson(1, tail)), { ...ofFile, [name]: value });
  }
});

test('payloads of one file may have different families', async (t) => {
  const store = await openIntelligence({ dataDir: temporaryFolder(t) });
  t.after(() => store.close());
  const families = ['Mirai', 'Gafgyt', 'Mirai'];
  await store.apply(families.map((family, i) => seen({ ts: i, url: URL, payload: { sha256: hashOf('a'), family } })));
  const found = (await historyOf(store, URL))?.payloads.map((payload) => payload['malware-family']);
  assert.deepEqual(found, families.toReversed());
});
