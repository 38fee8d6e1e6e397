import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MAX_TAGS } from '../../../src/core/observation.ts';
import { parseObservation, printObservation } from '../../../src/ingest/observation-json.ts';
import type { ExportFilter } from '../../../src/urls/store.ts';
import type { OpenStore } from './index.ts';
import { collect, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;

type Store = Awaited<ReturnType<OpenStore>>;

/** `host tag,tag`, in the order of the export. */
async function tagsOf(store: Store, filter: ExportFilter = {}): Promise<string[]> {
  const urls = await collect(store.exportUrls(filter));
  return urls.map(({ host, tags }) => `${host.replace('.example', '')} ${tags.join()}`).sort();
}

async function linesOf(store: Store): Promise<string[]> {
  return (await collect(store.exportObservations({}))).map(printObservation);
}

const fromLine = (line: string) => {
  const parsed = parseObservation(line, T);
  assert.ok(typeof parsed !== 'string', `${parsed}`);
  return seen(parsed);
};

export function tagsSuite(open: OpenStore): void {
  suite('tags', () => {
    test('a URL has each spelling of a tag once, sorted', async (t) => {
      const store = await open(t);
      const url = 'http://a.example/';
      await store.apply([seen({ ts: T, url, tags: ['elf', 'Mozi'] }), seen({ ts: T + 1, url, tags: ['Mozi'] })]);
      await store.apply([
        seen({ ts: T + 2, url, tags: ['mozi', 'elf'] }),
        seen({ ts: T, url: 'http://b.example/', tags: ['mozi'] }),
        seen({ ts: T, url: 'http://c.example/' }),
      ]);
      assert.deepEqual(await tagsOf(store), ['a Mozi,elf,mozi', 'b mozi', 'c ']);
    });

    test('a filter finds every spelling, with all tags of the URL', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: T, url: 'http://a.example/', tags: ['Mozi', 'elf'] }),
        seen({ ts: T, url: 'http://b.example/', tags: ['mozi'] }),
        seen({ ts: T + 9, url: 'http://c.example/', status: 'offline', tags: ['MOZI'] }),
        seen({ ts: T, url: 'http://d.example/', tags: ['moz', 'mozi2'] }),
      ]);
      assert.deepEqual(await tagsOf(store, { tag: 'mOzi' }), ['a Mozi,elf', 'b mozi', 'c MOZI']);
      assert.deepEqual(await tagsOf(store, { tag: 'mozi', status: 'online' }), ['a Mozi,elf', 'b mozi']);
      assert.deepEqual(await tagsOf(store, { tag: 'mozi', since: T + 9 }), ['c MOZI']);
      assert.deepEqual(await tagsOf(store, { tag: 'none' }), []);
    });

    test('an export has the tags in the first line of each URL, and is the same after an import', async (t) => {
      const [store, copy] = [await open(t), await open(t)];
      await store.apply([
        seen({ ts: T, url: 'http://a.example/', tags: ['b', 'a'], payload: { fileSize: 1 } }),
        seen({ ts: T, url: 'http://192.0.2.1/', status: null, tags: ['x'], payload: { ts: T - 9, fileSize: 1 } }),
        seen({ ts: T, url: 'http://nothing.example/', status: null, tags: ['alone'] }),
      ]);
      const lines = await linesOf(store);
      const tagged = lines.filter((line) => line.includes('"tags"'));
      assert.deepEqual(tagged.sort(), [
        '{"ts":0,"url":"http://nothing.example/","status":null,"tags":["alone"]}',
        `{"ts":${T},"url":"http://192.0.2.1/","status":null,"ip":"192.0.2.1","tags":["x"]}`,
        `{"ts":${T},"url":"http://a.example/","status":"online","tags":["a","b"]}`,
      ]);
      await copy.apply(lines.map(fromLine));
      assert.deepEqual(await linesOf(copy), lines);
    });

    test('more tags than one observation may have are exported in several lines', async (t) => {
      const [store, copy] = [await open(t), await open(t)];
      const tags = Array.from({ length: 2 * MAX_TAGS + 1 }, (_, i) => `tag ${i}`);
      const url = 'http://192.0.2.1/';
      for (let i = 0; i < tags.length; i += MAX_TAGS) {
        await store.apply([seen({ ts: T, url, tags: tags.slice(i, i + MAX_TAGS) })]);
      }
      const lines = await linesOf(store);
      assert.equal(lines.length, 4, 'three with tags and one with the address');
      await copy.apply(lines.map(fromLine));
      assert.deepEqual(await linesOf(copy), lines);
      assert.deepEqual((await collect(copy.exportUrls({})))[0]?.tags, tags.sort());
    });

    test('the names of families are read in the order in which they came', async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.familyNames(), []);
      await store.apply([seen({ ts: T, url: 'http://a.example/', payload: { family: 'mozi' } })]);
      await store.apply([seen({ ts: T, url: 'http://a.example/', payload: { family: 'Mozi' } })]);
      assert.deepEqual(await store.familyNames(), ['mozi', 'Mozi']);
    });
  });
}
