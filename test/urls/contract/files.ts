import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { FileReport } from '../../../src/core/observation.ts';
import { lastOf } from '../results.ts';
import type { OpenStore } from './index.ts';
import { find, hashOf, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;

export function filesSuite(open: OpenStore): void {
  suite('files', () => {
    test('details apply to earlier and later payloads; the first value stays', async (t) => {
      const store = await open(t);
      const of = (name: string, payload: object) =>
        seen({ ts: T, url: `http://${name}.example/`, payload: { sha256: hashOf('a'), ...payload } });
      await store.apply([of('before', { fileName: 'first' })]);
      assert.equal(await store.applyFiles([file({ fileName: 'second', fileSize: 7, family: 'Mirai' })]), 1);
      assert.equal((await find(store, 'malware_family', 'mirai')).length, 1);
      await store.apply([of('after', {}), of('own', { family: 'Own', fileSize: 8 })]);
      const payload = async (name: string) => (await lastOf(store, `http://${name}.example/`))?.payload;
      for (const name of ['before', 'after']) {
        const found = await payload(name);
        assert.deepEqual([found?.file_name, found?.file_size, found?.['malware-family']], ['first', 7, 'Mirai']);
      }
      const own = await payload('own');
      assert.deepEqual([own?.file_size, own?.['malware-family']], [8, 'Own']);
      assert.equal((await find(store, 'malware_family', 'mirai')).length, 2);
    });

    test('details of a file are stored before any URL serves it', async (t) => {
      const store = await open(t);
      await store.applyFiles([file({ fileName: 'a.exe', family: 'Early' })]);
      await store.apply([seen({ ts: T, url: 'http://a.example/', payload: { sha256: hashOf('A') } })]);
      assert.equal((await lastOf(store, 'http://a.example/'))?.payload?.file_name, 'a.exe');
      assert.equal((await find(store, 'malware_family', 'early')).length, 1);
    });

    test('the same files again change nothing; further details do', async (t) => {
      const store = await open(t);
      const files = [file({ fileSize: 0 }), file({ sha256: hashOf('b') })];
      assert.equal(await store.applyFiles(files), 2);
      assert.equal(await store.applyFiles(files), 0);
      assert.equal(await store.applyFiles([file({ fileSize: 1 })]), 0);
      assert.equal(await store.applyFiles([file({ fileExt: 'sh' }), ...files]), 1);
      assert.equal(await store.applyFiles([]), 0);
    });

    test('a new file without details counts as a change, and so does each update that fills in more', async (t) => {
      const store = await open(t);
      assert.equal(await store.applyFiles([file({}), file({ fileSize: 7 }), file({ fileSize: 7 })]), 2);
    });
  });
}

function file(details: Partial<FileReport>): FileReport {
  const unknown = { mimeType: null, fileType: null, fileExt: null, fileSize: null, fileName: null, family: null };
  return { sha256: hashOf('a'), ...unknown, ...details };
}
