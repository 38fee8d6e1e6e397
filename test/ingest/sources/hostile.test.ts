import assert from 'node:assert/strict';
import { constants } from 'node:buffer';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { AppError } from '../../../src/core/errors.ts';
import { FORMATS } from '../../../src/ingest/formats/formats.ts';
import { INPUT_LIMITS, type Item } from '../../../src/ingest/sources/format.ts';
import { sourceOf } from '../../../src/ingest/sources/source.ts';
import { CHOICES, readText } from '../formats/read-items.ts';

// In a process of its own: it measures memory.

const MIB = 2 ** 20;
const CHUNK_BYTES = 64 * 1024;
/** A few lines of the maximum length, plus garbage that is not collected yet. */
const MAX_GROWTH_BYTES = 160 * MIB;

for (const format of FORMATS) {
  test(`${format.name}: any bytes become items or are refused`, async () => {
    const pieces = fc.constantFrom(
      '"',
      ',',
      '\n',
      '\r\n',
      '#',
      '\0',
      '{',
      '}',
      '[',
      ']',
      ':',
      '\\',
      '"Event":',
      '"objects":[',
      '"Attribute":[',
      '"type":"bundle"',
      '{"type":"url","value":"http://a.example/","id":"x"}',
      'id,dateadded,url,url_status',
      'http://a.example/',
      '192.0.2.7/24',
      '{"type":"metadata","timestamp":1}',
      '{"cidr":"192.0.2.0/24"}\n',
      '"ioc_type":"ip:port",',
      '"list":[',
      '{"dataset":"XBL","ip":',
      'hxxp://a[.]example',
      '2025-07-17 17:19:14',
      'None',
      'n/a',
      '\u20ac',
      '\x1f\x8b\x08',
      'PK\x03\x04',
      '\ufeff',
    );
    const input = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(pieces, { maxLength: 30 }).map((list) => Buffer.from(list.join(''))),
    );
    await fc.assert(
      fc.asyncProperty(input, async (bytes) => {
        const items = await readText(format, Buffer.from(bytes)).catch((error: unknown) => {
          assert.ok(error instanceof AppError, error instanceof Error ? error.stack : String(error));
          return [];
        });
        for (const item of items) checkItem(item);
      }),
      { numRuns: 200 },
    );
  });

  test(`${format.name}: a line of 250 MB is rejected or refused, in bounded memory`, async () => {
    const { items, error } = await readBounded(format.name, repeated('a', 250 * MIB));
    if (error === null)
      assert.deepEqual(
        items.map((item) => item.kind).filter((kind) => kind !== 'list_end'),
        ['reject'],
      );
    else assert.match(error.message, /JSON|longer than|larger than|neither/);
  });

  test(`${format.name}: 10 MB of nesting is refused or rejected`, async () => {
    for (const opening of ['[', '{"Event":', '{"objects":[', '{"a":[', '"']) {
      const { items, error } = await readBounded(format.name, repeated(opening, 10 * MIB));
      assert.ok(error !== null || items.every((item) => item.kind !== 'observations'), opening);
    }
  });
}

test('a line longer than any string rejects only that line', async () => {
  async function* bytes(): AsyncGenerator<Buffer> {
    yield Buffer.from('http://a.example/\n');
    yield* repeated('a', constants.MAX_STRING_LENGTH + MIB);
    yield Buffer.from('\nhttp://b.example/\n');
  }
  const { items } = await readBounded('url-list', bytes());
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['observations', 'reject', 'observations'],
  );
});

for (const [name, start, entry] of [
  ['misp-warninglist', '{"list":[""', ',""'],
  ['drop-json', '', '{"cidr":""}\n'],
] as const) {
  test(`${name}: a list with millions of rows is refused, in bounded memory`, async () => {
    async function* bytes(): AsyncGenerator<Buffer> {
      yield Buffer.from(start);
      yield* repeated(entry, 60 * MIB);
    }
    const { error } = await readBounded(name, bytes(), 2 * MAX_GROWTH_BYTES);
    assert.match(error?.message ?? '', /more than 1000000 /);
  });
}

test('a zip bomb is refused, in bounded memory', async () => {
  const blanks = Buffer.alloc(64 * MIB, '\n');
  const { error } = await readBounded('urlhaus-csv', inOneChunk(gzipSync(blanks)));
  assert.match(error?.message ?? '', /as in a zip bomb/);
});

test('a long JSON document is read in constant memory', async () => {
  const record =
    '[{"dateadded":"2025-07-17 17:19:14 UTC","url":"http://192.0.2.7/","url_status":"online","reporter":"x"}]';
  async function* bytes(): AsyncGenerator<Buffer> {
    yield Buffer.from('{"0":[]');
    for (let block = 0; block < 1_000; block += 1) {
      yield Buffer.from(Array.from({ length: 100 }, (_, n) => `,\n"${block * 100 + n + 1}":${record}`).join(''));
    }
    yield Buffer.from('}');
  }
  const { count } = await readBounded('urlhaus-json', bytes());
  assert.equal(count, 100_000);
});

function checkItem(item: Item): void {
  if (item.kind === 'time' || item.kind === 'list_end') {
    assert.ok(Number.isSafeInteger(item.ts));
    return;
  }
  assert.ok(item.line >= 1 && item.text.length <= 1024, JSON.stringify(item));
  if (item.kind === 'observations') {
    assert.ok(item.inputs.length > 0);
    for (const { ts, url } of item.inputs) assert.ok(Number.isSafeInteger(ts) && typeof url === 'string');
  }
  if (item.kind === 'reject') assert.notEqual(item.reason, '');
}

/** Reads all items, keeps the first ones, and checks the memory. */
async function readBounded(name: string, bytes: AsyncIterable<Buffer>, maxGrowthBytes = MAX_GROWTH_BYTES) {
  const format = FORMATS.find((one) => one.name === name);
  assert.ok(format);
  const source = sourceOf('hostile', bytes, null, () => null);
  const before = process.memoryUsage.rss();
  const items: Item[] = [];
  let count = 0;
  let error: Error | null = null;
  let growth = 0;
  try {
    for await (const some of format.read(source, INPUT_LIMITS, { nowTs: 1, asOfTs: 1, ...CHOICES[name] })) {
      count += some.length;
      if (items.length < 100) items.push(...some);
      growth = Math.max(growth, process.memoryUsage.rss() - before);
    }
  } catch (caught) {
    assert.ok(caught instanceof AppError, caught instanceof Error ? caught.stack : String(caught));
    error = caught;
  }
  growth = Math.max(growth, process.memoryUsage.rss() - before);
  assert.ok(growth < maxGrowthBytes, `${name}: ${Math.round(growth / MIB)} MiB of growth`);
  return { items, count, error };
}

async function* repeated(text: string, totalBytes: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.from(text.repeat(Math.ceil(CHUNK_BYTES / text.length)));
  for (let bytes = 0; bytes < totalBytes; bytes += chunk.length) yield chunk;
}

async function* inOneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
