import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../../src/core/errors.ts';
import { type JsonFind, readJson } from '../../../src/ingest/sources/json.ts';
import { inChunks } from '../formats/read-items.ts';

test('values are found with paths and lines, in chunks of any size', async () => {
  const text =
    '{\n  "a": [1],\n  "list": [\n    {"x": "\\u00e4\n"},\n\n    "two"\n  ],\n  "b": {"list": [3]}\n}\n'.replace(
      '\n"}',
      '"}',
    );
  for (const size of [1, 5, 1000]) {
    assert.deepEqual(await find(text, ['$.list.*'], size), [
      { path: ['list', 0], value: { x: 'ä' }, line: 4 },
      { path: ['list', 1], value: 'two', line: 6 },
    ]);
  }
});

test('every member of a list or an object is found once', async () => {
  const members = fc.array(fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(members, fc.nat({ max: 30 }), async (list, size) => {
      const json = JSON.parse(JSON.stringify(list));
      const found = await find(JSON.stringify(json), ['$.*'], size + 1);
      assert.deepEqual(
        found.map(({ value }) => value),
        json,
      );
    }),
  );
});

test('U+FEFF in a string stays, raw or escaped', async () => {
  const value = 'http://a.example/\ufeffé\ufeff';
  const raw = JSON.stringify([value, '\ufeffa']);
  for (const text of [raw, raw.replaceAll('\ufeff', '\\ufeff'), `\ufeff${raw}`]) {
    for (const size of [1, 5, 1000]) {
      const found = await find(text, ['$.*'], size);
      assert.deepEqual(
        found.map((each) => each.value),
        [value, '\ufeffa'],
      );
    }
  }
});

const REFUSED: Record<string, [text: string | Buffer, message: RegExp]> = {
  'an empty document': ['', /JSON is cut off; download or copy/],
  'a truncated document': ['{"a": [1, 2', /JSON is cut off; download or copy/],
  'a truncated string': ['{"a": "b', /JSON is cut off; download or copy/],
  HTML: ['<html>', /: invalid JSON near line 1: "<" is not expected there$/],
  'an error in line 3': ['[\n1,\n,]', /invalid JSON near line [23]/],
  'text after the end': ['[1]\n[2]', /invalid JSON near line/],
  'a raw control character': ['["a\nb"]', /invalid JSON near line 1/],
  'a NUL byte': ['[1,\0]', /invalid JSON near line 1/],
  'invalid UTF-8': [Buffer.from('["a\xff bcd"]', 'latin1'), /invalid JSON near line 1/],
  '10 MB of nesting': ['['.repeat(10_000_000), /nested more than 64 levels deep/],
  '10 MB of nesting in objects': ['{"a":'.repeat(2_000_000), /nested more than 64 levels deep/],
  'a string of 4 MB': [`["${'x'.repeat(4_000_000)}"]`, /a value near line 1 is longer than 1048576 bytes/],
  'a key of 4 MB': [`{"${'x'.repeat(4_000_000)}":1}`, /is longer than 1048576 bytes/],
  'a number of 4 MB': [`[${'1'.repeat(4_000_000)}]`, /is longer than 1048576 bytes/],
  'a record of 4 MB': [`[1,\n[${'[],'.repeat(1_300_000)}1]]`, /a value near line 2 is longer than 1048576 bytes/],
};

for (const [what, [text, message]] of Object.entries(REFUSED)) {
  test(`${what} is refused`, async () => {
    for (const size of [64 * 1024, ...(text.length < 100 ? [1] : [])]) {
      await assert.rejects(find(text, ['$.*'], size), (error) => {
        assert.ok(error instanceof AppError, String(error));
        assert.match(error.message, message);
        return true;
      });
    }
  });
}

test('a record that is too long is refused also in a single chunk', async () => {
  const long = `[1,\n[${'[],'.repeat(400_000)}1],2]`;
  await assert.rejects(find(long, ['$.*'], long.length), /a value near line 2 is longer than 1048576 bytes/);
});

test('a long document of short records is read', async () => {
  const record = JSON.stringify({ text: 'x'.repeat(1000) });
  const found = await find(`[${`${record},\n`.repeat(5_000)}1]`, ['$.*']);
  assert.equal(found.length, 5_001);
  assert.equal(found.at(-1)?.line, 5_001);
});

test('any bytes are either JSON or refused', async () => {
  const bytes = fc.array(fc.constantFrom(...Buffer.from('[]{}",:1e\\u ntf\n\xff\0', 'latin1')), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(bytes, async (list) => {
      const input = Buffer.from(list);
      const isJson = canParse(input);
      const result = await find(input, ['$.*'], 3).then(
        () => true,
        (error: unknown) => assert.ok(error instanceof AppError, String(error)),
      );
      assert.equal(result === true, isJson);
    }),
    { numRuns: 2_000 },
  );
});

function canParse(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

async function find(text: string | Buffer, paths: string[], chunkBytes = 64 * 1024): Promise<JsonFind[]> {
  const finds: JsonFind[] = [];
  const chunks = inChunks(Buffer.from(text), chunkBytes);
  for await (const some of readJson(chunks, 'test', { maxLineBytes: 2 ** 20 }, paths)) finds.push(...some);
  return finds;
}
