// In a process of its own: it measures the memory of its process.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import type { ListReads } from '../../src/exports/build.ts';
import { DEFAULT_FILTER } from '../../src/exports/built-in.ts';
import { createListBuilder } from '../../src/exports/list-builder.ts';
import { allowMemoryRelease, createMemoryRelease, RELEASE_MS } from '../../src/threads/release-memory.ts';
import type { ListedUrl } from '../../src/urls/store.ts';

const NOW = 1_000_000;
const PAGES = 4;
const PAGE_URLS = 10_000;

const stores: Partial<ListReads> = {
  async *urlsForList() {
    for (let page = 0; page < PAGES; page++) {
      yield Array.from({ length: PAGE_URLS }, (_, i): ListedUrl => {
        const id = page * PAGE_URLS + i;
        return {
          id,
          url: `http://host${id}.example/${id}`,
          host: `host${id}.example`,
          status: 'online',
          sinceTs: NOW - id,
          seenTs: NOW - id,
          reporter: 'a',
          family: null,
          sha256: null,
          tags: [],
        };
      });
    }
  },
};

/** Mapped files do not count. */
function memoryMb(): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

test('the memory that a build needed is given back when the builder is idle', async () => {
  allowMemoryRelease();
  globalThis.gc = runInNewContext('gc'); // a thread that starts later has it
  const options = { allowReserved: true, maxBytes: Number.POSITIVE_INFINITY, afterWork: createMemoryRelease() };
  const builder = createListBuilder(stores as ListReads, options);
  const list = { name: 'list', kind: 'urls', description: '', filter: DEFAULT_FILTER, changedTs: 0 } as const;
  const { hash, count } = await builder.build(list, [], NOW);
  assert.equal(count, PAGES * PAGE_URLS);
  await builder.render('list', hash, 1, { format: 'txt', profile: null, max: null });
  const busyMb = memoryMb();
  await setTimeout(RELEASE_MS + 100);
  const idleMb = memoryMb();
  assert.ok(idleMb < busyMb - 25, `${idleMb} MB after ${busyMb} MB`);
});
