import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { AppError } from '../../src/core/errors.ts';
import { CHECK_MS, createListCopies } from '../../src/exports/copies.ts';
import type { ListBuilder, Rendered } from '../../src/exports/list-builder.ts';
import type { ListDefinition } from '../../src/exports/store.ts';

const LIST: ListDefinition = {
  name: 'urls-online',
  kind: 'urls',
  description: '',
  changedTs: 0,
  filter: {
    status: 'online',
    maxAgeSeconds: 86_400,
    families: [],
    reporters: [],
    datasets: [],
    maxScore: null,
    listedDomains: false,
  },
};
const TXT = { format: 'txt', profile: null, max: null };
const CSV = { format: 'csv', profile: null, max: null };

const MAX_BYTES = 2 ** 28;

const ETAGS = { identity: '"1"', gzip: '"2"', zstd: '"3"' };

/** A store whose content is one word, and a builder that takes `buildMs` for it. */
function setUp({ isShared = false } = {}) {
  const world = {
    word: 'first',
    seen: 0,
    change: 1,
    listsVersion: 1,
    nextEndTs: null as number | null,
    ms: 1_000_000,
    aheadMs: 0,
    buildMs: 10,
    padding: 0,
    builds: 0,
    renders: 0,
    compressions: 0,
    serial: 0,
    isBroken: false,
    hasForgotten: false,
    failures: [] as unknown[],
  };
  const serials = new Map<string, number>();
  const kept = new Map<string, string>();
  const everything = () => `${world.word} ${world.seen}`;
  const builder: ListBuilder = {
    async build(definition) {
      world.builds++;
      world.ms += world.buildMs;
      if (world.isBroken) throw new AppError('unavailable', 'the database is away');
      kept.set(definition.name, everything());
      world.hasForgotten = false;
      const hashes = { hash: Buffer.from(everything()), keysHash: Buffer.from(world.word) };
      return { ...hashes, count: 1, leftOut: {}, nextEndTs: world.nextEndTs, tookMs: world.buildMs };
    },
    async render(name, hash, serial, { format }) {
      world.renders++;
      const found = kept.get(name);
      if (world.hasForgotten || found !== Buffer.from(hash).toString()) return null;
      const [word, seen] = found.split(' ');
      const content = Buffer.from(`${word} ${serial} ${format}${format === 'csv' ? ` seen ${seen}` : ''}`);
      if (isShared) return { bytes: new Uint8Array(new SharedArrayBuffer(2 ** 23)), etags: ETAGS };
      const bytes = world.padding === 0 ? content : Buffer.alloc(world.padding);
      return { bytes, etags: ETAGS };
    },
    async compress(bytes, encoding) {
      world.compressions++;
      if (world.isBroken) throw new AppError('unavailable', 'the worker thread ended');
      return Buffer.from(`${encoding} of ${Buffer.from(bytes)}`);
    },
    explain: async () => null,
  };
  const copies = createListCopies({
    builder,
    now: () => Math.floor((world.ms + world.aheadMs) / 1000),
    clockMs: () => world.ms,
    newestChange: () => world.change,
    listsVersion: () => world.listsVersion,
    exclusions: async () => [],
    async listSerial(_name, hash) {
      const word = Buffer.from(hash).toString();
      if (!serials.has(word)) serials.set(word, ++world.serial);
      return serials.get(word) as number;
    },
    maxBytes: MAX_BYTES,
    onFailure: (error) => void world.failures.push(error),
  });
  const text = ({ bytes }: Rendered) => Buffer.from(bytes).toString();
  const later = (ms: number) => {
    world.ms += ms;
  };
  return { world, copies, text, later };
}

test('a thousand fetches of an unchanged list are one build and one rendering', async () => {
  const { world, copies, text, later } = setUp();
  const fetched = await Promise.all(Array.from({ length: 1_000 }, () => copies.copy(LIST, TXT, 'identity')));
  assert.deepEqual([...new Set(fetched.map(text))], ['first 1 txt']);
  later(10 * CHECK_MS);
  await copies.copy(LIST, TXT, 'identity');
  assert.equal(text(await copies.copy(LIST, CSV, 'identity')), 'first 1 csv seen 0');
  assert.deepEqual([world.builds, world.renders], [1, 2]);
});

test('each encoding is made when it is asked for, once, also by a builder that has lost the entries', async () => {
  const { world, copies, text, later } = setUp();
  await copies.copy(LIST, TXT, 'identity');
  assert.equal(world.compressions, 0);
  world.hasForgotten = true;
  const fetched = await Promise.all(Array.from({ length: 1_000 }, () => copies.copy(LIST, TXT, 'gzip')));
  assert.deepEqual([...new Set(fetched.map(text))], ['gzip of first 1 txt']);
  assert.equal(text(await copies.copy(LIST, TXT, 'zstd')), 'zstd of first 1 txt');
  assert.deepEqual([world.builds, world.compressions], [1, 2]);
  world.word = 'second';
  world.change++;
  later(CHECK_MS);
  assert.equal(text(await copies.copy(LIST, TXT, 'gzip')), 'gzip of second 2 txt');
});

test('an encoding that failed is tried again by the next fetch', async () => {
  const { world, copies, text } = setUp();
  await copies.copy(LIST, TXT, 'identity');
  world.isBroken = true;
  await assert.rejects(copies.copy(LIST, TXT, 'gzip'), { code: 'unavailable' });
  world.isBroken = false;
  assert.equal(text(await copies.copy(LIST, TXT, 'gzip')), 'gzip of first 1 txt');
});

test('a list that was built while the clock was ahead is built again when the clock is right', async () => {
  const { world, copies, text, later } = setUp();
  world.aheadMs = 86_400_000;
  world.word = 'ahead';
  await copies.copy(LIST, TXT, 'identity');
  world.aheadMs = 0;
  world.word = 'right';
  later(CHECK_MS);
  assert.equal(text(await copies.copy(LIST, TXT, 'identity')), 'right 2 txt');
  later(CHECK_MS);
  await copies.copy(LIST, TXT, 'identity');
  assert.equal(world.builds, 2);
});

test('a change of the data, of a definition, or the end of an entry leads to a build', async () => {
  const { world, copies, text, later } = setUp();
  world.buildMs = 0;
  await copies.copy(LIST, TXT, 'identity');
  for (const change of [
    () => world.change++,
    () => world.listsVersion++,
    () => {
      world.nextEndTs = Math.floor(world.ms / 1000) + 60; // reported by the next build
      world.change++;
    },
  ]) {
    change();
    world.word += '+';
    later(CHECK_MS);
    assert.equal(text(await copies.copy(LIST, TXT, 'identity')), `${world.word} ${world.serial} txt`);
  }
  assert.equal(world.builds, 4);
  later(58_000);
  await copies.copy(LIST, TXT, 'identity');
  assert.equal(world.builds, 4);
  later(2_000);
  await copies.copy(LIST, TXT, 'identity');
  assert.equal(world.builds, 5);
});

test('a build that changes nothing keeps the bytes', async () => {
  const { world, copies, later } = setUp();
  const before = await copies.copy(LIST, TXT, 'identity');
  world.change++;
  later(CHECK_MS);
  const after = await copies.copy(LIST, TXT, 'identity');
  assert.equal(world.builds, 2);
  assert.equal(after.bytes, before.bytes);
});

test('a build that changes nothing but times keeps the serial, and renders again what has the times', async () => {
  const { world, copies, text, later } = setUp();
  const before = await copies.copy(LIST, TXT, 'identity');
  assert.equal(text(await copies.copy(LIST, CSV, 'identity')), 'first 1 csv seen 0');
  world.change++;
  world.seen = 7;
  later(CHECK_MS);
  assert.equal(text(await copies.copy(LIST, CSV, 'identity')), 'first 1 csv seen 7');
  assert.equal(text(await copies.copy(LIST, TXT, 'identity')), text(before));
  assert.equal(world.serial, 1);
});

test('building takes at most a tenth of the time', async () => {
  const { world, copies, text, later } = setUp();
  world.buildMs = 2_000;
  await copies.copy(LIST, TXT, 'identity');
  const firstMs = world.ms;
  world.word = 'second';
  world.change++;
  while (world.builds === 1) {
    later(CHECK_MS);
    await copies.copy(LIST, TXT, 'identity');
  }
  assert.equal(world.ms - firstMs, 18_000 + world.buildMs);
  assert.equal(text(await copies.copy(LIST, TXT, 'identity')), 'second 2 txt');
});

test('if building fails, the last copy is served with its age, and the next build is not at once', async () => {
  const { world, copies, text, later } = setUp();
  const good = await copies.copy(LIST, TXT, 'identity');
  assert.equal(good.staleSinceTs, null);
  const builtTs = Math.floor(world.ms / 1000);
  world.isBroken = true;
  world.change++;
  later(60_000);
  for (let i = 0; i < 10; i++) {
    const old = await copies.copy(LIST, TXT, 'identity');
    assert.equal(text(old), text(good));
    assert.equal(old.staleSinceTs, builtTs);
  }
  assert.deepEqual([world.builds, world.failures.length], [2, 1]);
  world.isBroken = false;
  later(5_000);
  assert.equal((await copies.copy(LIST, TXT, 'identity')).staleSinceTs, null);
});

test('the first build that fails is an error, and the next fetch tries again', async () => {
  const { world, copies, text } = setUp();
  world.isBroken = true;
  await assert.rejects(copies.copy(LIST, TXT, 'identity'), { code: 'unavailable' });
  world.isBroken = false;
  assert.equal(text(await copies.copy(LIST, TXT, 'identity')), 'first 1 txt');
});

test('entries that the builder has lost are built again', async () => {
  const { world, copies, text } = setUp();
  await copies.copy(LIST, TXT, 'identity');
  world.hasForgotten = true;
  world.word = 'second';
  assert.equal(text(await copies.copy(LIST, CSV, 'identity')), 'second 2 csv seen 0');
  assert.equal(text(await copies.copy(LIST, TXT, 'identity')), 'second 2 txt');
});

test('the number of variants in memory is bounded', async () => {
  const { world, copies } = setUp();
  for (let max = 1; max <= 40; max++) await copies.copy(LIST, { ...TXT, max }, 'identity');
  assert.equal(world.renders, 40);
  await copies.copy(LIST, { ...TXT, max: 40 }, 'identity');
  assert.equal(world.renders, 40);
  await copies.copy(LIST, { ...TXT, max: 1 }, 'identity');
  assert.equal(world.renders, 41);
});

test('the bytes of variants in memory are bounded', async () => {
  const { world, copies } = setUp();
  world.padding = 2 ** 26;
  for (const max of [1, 2, 3]) await copies.copy(LIST, { ...TXT, max }, 'identity');
  await copies.copy(LIST, { ...TXT, max: 3 }, 'identity');
  assert.equal(world.renders, 3);
  await copies.copy(LIST, { ...TXT, max: 1 }, 'identity');
  assert.equal(world.renders, 4);
});

test('the bytes of the variants of all lists are bounded; those of the list that was fetched longest ago are dropped', async () => {
  const { world, copies, later } = setUp();
  world.padding = MAX_BYTES / 4;
  const fetch = async (name: string) => {
    later(CHECK_MS);
    await copies.copy({ ...LIST, name }, TXT, 'identity');
  };
  for (const name of ['a', 'b', 'c', 'd', 'a', 'e']) await fetch(name);
  assert.equal(world.renders, 5);
  for (const name of ['a', 'c', 'd', 'e']) await fetch(name);
  assert.equal(world.renders, 5);
  await fetch('b');
  assert.equal(world.renders, 6);
  world.padding = 2 * MAX_BYTES;
  for (const name of ['f', 'f']) await fetch(name);
  assert.equal(world.renders, 7, 'the newest stays');
});

test('while many variants of a list are being made, further ones are refused, and those that are ready are not', async () => {
  const { copies, text } = setUp();
  await copies.copy(LIST, TXT, 'identity');
  const many = Array.from({ length: 100 }, (_, i) => copies.copy(LIST, { ...TXT, max: i + 1 }, 'identity'));
  const ready = copies.copy(LIST, TXT, 'identity');
  const made = await Promise.allSettled(many);
  const refused = made.filter((one) => one.status === 'rejected');
  assert.equal(refused.length, 100 - 32);
  assert.ok(refused.every(({ reason }) => reason.code === 'overloaded' && reason.retryAfterSeconds > 0));
  assert.equal(text(await ready), 'first 1 txt');
  assert.equal(text(await copies.copy(LIST, { ...TXT, max: 100 }, 'identity')), 'first 1 txt');
});

test('a kept copy is of a variant that was made before and not dropped, also if the content has changed since', async () => {
  const { world, copies, text, later } = setUp();
  world.buildMs = 0;
  assert.equal(await copies.keptCopy(LIST, TXT), null);
  assert.deepEqual([world.builds, world.renders], [0, 0]);
  await copies.copy(LIST, TXT, 'identity');
  assert.equal(await copies.keptCopy(LIST, CSV), null);
  for (const word of ['second', 'third', 'fourth']) {
    world.word = word;
    world.change++;
    later(CHECK_MS);
    if (word !== 'third') assert.match(text((await copies.keptCopy(LIST, TXT)) as Rendered), new RegExp(`^${word} `));
    else await copies.copy(LIST, CSV, 'identity'); // nobody asks for the other one meanwhile
  }
  assert.equal(world.renders, 4);
  for (let max = 1; max <= 40; max++) await copies.copy(LIST, { ...TXT, max }, 'identity');
  assert.equal(await copies.keptCopy(LIST, TXT), null);
  assert.notEqual(await copies.keptCopy(LIST, { ...TXT, max: 40 }), null);
  assert.equal(world.renders, 44);
  for (const max of [41, 42]) {
    world.word = `word ${max}`;
    world.change++;
    later(CHECK_MS);
    await copies.copy(LIST, { ...TXT, max }, 'identity');
  }
  assert.equal(await copies.keptCopy(LIST, { ...TXT, max: 9 }), null, 'one of 32 is dropped');
  assert.notEqual(await copies.keptCopy(LIST, { ...TXT, max: 10 }), null);
});

test('two changes of a definition in one second are two builds', async () => {
  const { world, copies, text, later } = setUp();
  world.buildMs = 0;
  await copies.copy(LIST, TXT, 'identity');
  world.listsVersion++;
  later(CHECK_MS);
  // The definition was read shortly before the second change.
  await copies.copy(LIST, TXT, 'identity');
  world.word = 'second';
  later(CHECK_MS);
  const changed = { ...LIST, filter: { ...LIST.filter, families: ['Emotet'] } };
  assert.equal(text(await copies.copy(changed, TXT, 'identity')), 'second 2 txt');
});

test('the memory of variants that were dropped is freed', async () => {
  const { copies } = setUp({ isShared: true });
  // A WeakRef that is read would keep its bytes until the next turn of the event loop, also from a collection in this turn.
  let freed = 0;
  const registry = new FinalizationRegistry(() => void freed++);
  let made = 0;
  // A busy process collects garbage later.
  while (made < 1_000 && freed < 15) {
    made++;
    const { bytes } = await copies.copy(LIST, { ...TXT, max: made }, 'identity');
    registry.register(bytes, null);
    await setTimeout(2); // a collection takes several iterations of the event loop
  }
  assert.ok(freed >= 15, `${freed} of ${made} are freed, 16 of them are in use`);
});
