import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListReads } from '../../src/exports/build.ts';
import { DEFAULT_FILTER } from '../../src/exports/built-in.ts';
import { createListBuilder, type ListBuilder } from '../../src/exports/list-builder.ts';
import type { ListedUrl } from '../../src/urls/store.ts';

const NOW = 1_000_000;

const listed = (path: string): ListedUrl => ({
  id: 1,
  url: `http://a.example/${path}`,
  host: 'a.example',
  status: 'online',
  sinceTs: NOW,
  seenTs: NOW,
  reporter: 'a',
  family: 'Mirai',
  sha256: null,
  tags: ['elf', 'mips'],
});

/** Each list that is built gets the next URL. */
function createBuilder(maxBytes = Number.POSITIVE_INFINITY): ListBuilder {
  let built = 0;
  const stores: Partial<ListReads> = {
    async *urlsForList() {
      yield [listed(String(++built))];
    },
  };
  return createListBuilder(stores as ListReads, { allowReserved: true, maxBytes, afterWork() {} });
}

const build = (builder: ListBuilder, name: string) =>
  builder.build({ name, kind: 'urls', description: '', filter: DEFAULT_FILTER, changedTs: 0 }, [], NOW);

async function text(builder: ListBuilder, name: string, hash: Uint8Array, format: string): Promise<string | null> {
  const rendered = await builder.render(name, hash, 7, { format, profile: null, max: null });
  return rendered === null ? null : Buffer.from(rendered.bytes).toString();
}

test('a list is the same after others were built', async () => {
  const builder = createBuilder();
  const { hash } = await build(builder, 'first');
  const formats = ['txt', 'csv', 'ndjson', 'squid'];
  const before = await Promise.all(formats.map((format) => text(builder, 'first', hash, format)));
  assert.match(before[0] ?? '', /^http:\/\/a\.example\/1$/m);
  await build(builder, 'second');
  const after = await Promise.all(formats.map((format) => text(builder, 'first', hash, format)));
  assert.deepEqual(after, before);
});

test('eight lists are kept, each as it was built last', async () => {
  const builder = createBuilder();
  const first = await build(builder, 'first');
  const again = await build(builder, 'first');
  assert.equal(await text(builder, 'first', first.hash, 'txt'), null);
  for (let i = 0; i < 7; i++) await build(builder, `other-${i}`);
  assert.notEqual(await text(builder, 'first', again.hash, 'txt'), null);
  await build(builder, 'one-more');
  assert.equal(await text(builder, 'first', again.hash, 'txt'), null);
});

test('the bytes of the lists that are kept are bounded; the newest stays', async () => {
  const builder = createBuilder(1);
  const first = await build(builder, 'first');
  assert.notEqual(await text(builder, 'first', first.hash, 'txt'), null);
  const second = await build(builder, 'second');
  assert.equal(await text(builder, 'first', first.hash, 'txt'), null);
  assert.notEqual(await text(builder, 'second', second.hash, 'txt'), null);
});
