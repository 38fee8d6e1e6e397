import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStore } from '../../src/store/open.ts';
import type { Database, Query } from '../../src/store/sqlite/database.ts';
import { createFiles } from '../../src/store/sqlite/files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hashOf, seen } from './contract/observations.ts';

const URL = 'http://a.example/x';
const UNTOLD = { mimeType: null, fileType: null, fileExt: null, fileSize: null, fileName: null, family: null };

test('a history shows what another process told of a file since the last one', async (t) => {
  const dataDir = temporaryFolder(t);
  const [ours, other] = [await openStore({ dataDir }), await openStore({ dataDir })];
  t.after(() => Promise.all([ours.close(), other.close()]));
  const nameOf = async () => (await ours.urlHistory(URL, 100))?.payloads[0]?.fileName;
  await ours.apply([seen({ ts: 10, url: URL, payload: { sha256: hashOf('a') } })]);
  assert.equal(await nameOf(), null);
  await other.applyFiles([{ ...UNTOLD, sha256: hashOf('a'), fileName: 'a.sh' }]);
  assert.equal(await nameOf(), 'a.sh');
});

test('files are read once each while nothing is written, and again when too many were remembered', () => {
  let reads = 0;
  let version = 1;
  const query = {
    get: (id?: number) => {
      if (id === undefined) return [version];
      reads++;
      return [new Uint8Array(32), null, null, null, null, `${id}`];
    },
  } as unknown as Query<never>;
  const files = createFiles({ prepare: () => query } as unknown as Database);
  files.renew();
  assert.equal(files.of(1).fileName, '1');
  files.renew();
  assert.equal(files.of(1).fileName, '1');
  assert.equal(reads, 1);
  version = 2;
  files.renew();
  assert.equal(files.of(1).fileName, '1');
  assert.equal(reads, 2);
  for (let id = 2; id <= 20_001; id++) files.of(id);
  files.of(1);
  assert.equal(reads, 20_003);
});
