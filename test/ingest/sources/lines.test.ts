import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INPUT_LIMITS, type Item } from '../../../src/ingest/sources/format.ts';
import { faultOf, type Line, readLineItems, readLines, withoutReturn } from '../../../src/ingest/sources/lines.ts';
import { sourceOf } from '../../../src/ingest/sources/source.ts';
import { inChunks } from '../formats/read-items.ts';

const MAX_BYTES = 8;

async function read(input: string | Buffer, chunkBytes: number, maxBytes = MAX_BYTES): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const some of readLines(inChunks(Buffer.from(input), chunkBytes), maxBytes)) lines.push(...some);
  return lines;
}

const good = (text: string): Line => ({ ok: true, text });
const tooLong = (text: string): Line => ({ ok: false, error: 'too_long', text });

/** Of a line that is too long, nine bytes are kept if it arrives in several chunks, and all of it if it arrives in one. */
const CASES: { name: string; input: string | Buffer; lines: Line[]; atOnce?: Line[] }[] = [
  { name: 'no bytes', input: '', lines: [] },
  { name: 'an empty line', input: '\n', lines: [good('')] },
  { name: 'a last line without a line feed', input: 'a\nb', lines: [good('a'), good('b')] },
  { name: 'empty lines between', input: 'a\n\n\nb\n', lines: [good('a'), good(''), good(''), good('b')] },
  { name: 'a carriage return stays', input: 'a\r\nb\r\n', lines: [good('a\r'), good('b\r')] },
  {
    name: 'the longest line, also at the end',
    input: 'abcdefgh\nabcdefgh',
    lines: [good('abcdefgh'), good('abcdefgh')],
  },
  { name: 'a line that is too long', input: 'abcdefghi\nb\n', lines: [tooLong('abcdefghi'), good('b')] },
  {
    name: 'a line that is far too long',
    input: `${'x'.repeat(30)}\nb\n`,
    lines: [tooLong('x'.repeat(9)), good('b')],
    atOnce: [tooLong('x'.repeat(30)), good('b')],
  },
  { name: 'a last line that is too long', input: `a\n${'x'.repeat(30)}`, lines: [good('a'), tooLong('x'.repeat(9))] },
  { name: 'characters of several bytes', input: 'ä€\n😀é\n', lines: [good('ä€'), good('😀é')] },
  { name: 'eight bytes of four characters', input: 'éééé\né', lines: [good('éééé'), good('é')] },
  { name: 'nine bytes of five characters', input: 'éééée\né', lines: [tooLong('éééée'), good('é')] },
  {
    name: 'bytes that are not UTF-8',
    input: Buffer.from('a\xffb\nc\n', 'latin1'),
    lines: [{ ok: false, error: 'invalid_unicode', text: 'a\ufffdb' }, good('c')],
  },
];

for (const { name, input, lines, atOnce = lines } of CASES) {
  test(`readLines: ${name}`, async () => {
    for (const size of [1, 2, 3, 7]) assert.deepEqual(await read(input, size), lines, `in chunks of ${size}`);
    assert.deepEqual(await read(input, 1_000), atOnce);
  });
}

test('lines are returned as they arrive, and a chunk without a line feed returns none', async () => {
  const counts: number[] = [];
  const chunks = inChunks(Buffer.from('a\nb\nc d e f\n'), 4);
  for await (const some of readLines(chunks, 100)) counts.push(some.length);
  assert.deepEqual(counts, [2, 1]);
});

test('a line does not change when the source reuses the memory of a chunk', async () => {
  async function* reused() {
    const chunk = Buffer.from('ab');
    yield chunk;
    chunk.fill('x');
    yield Buffer.from('c\n');
  }
  const lines: Line[] = [];
  for await (const some of readLines(reused(), 100)) lines.push(...some);
  assert.deepEqual(lines, [good('abc')]);
});

test('1,024 bytes of an invalid line are shown', async () => {
  const [line] = await read('x'.repeat(3_000), 10_000, 2_000);
  assert.equal(line?.text, 'x'.repeat(1_024));
});

test('faultOf: the reason of a reject', () => {
  assert.equal(faultOf(good('a')), null);
  assert.match(faultOf(good('a\0')) ?? '', /NUL/);
  assert.match(faultOf(tooLong('a')) ?? '', /longer than/);
  assert.match(faultOf({ ok: false, error: 'invalid_unicode', text: 'a' }) ?? '', /UTF-8/);
});

test('withoutReturn removes one carriage return', () => {
  assert.deepEqual(['a\r', 'a\r\r', 'a', '\ra', ''].map(withoutReturn), ['a', 'a\r', 'a', '\ra', '']);
});

test('readLineItems: one item per line, and its number', async () => {
  const source = sourceOf('test', inChunks(Buffer.from('a\r\n\n  \nskip\nbad\nx\0\nlast'), 6), null, () => null);
  const read = (text: string) =>
    text === 'skip' ? null : text === 'bad' ? 'bad line' : { inputs: [{ ts: 1, url: text }] };
  const items: Item[][] = [];
  for await (const some of readLineItems(source, INPUT_LIMITS, read)) items.push(some);
  const input = (line: number, text: string) => ({ kind: 'observations', line, text, inputs: [{ ts: 1, url: text }] });
  assert.deepEqual(items, [
    [input(1, 'a')],
    [{ kind: 'reject', line: 5, text: 'bad', reason: 'bad line' }],
    [{ kind: 'reject', line: 6, text: 'x\0', reason: faultOf(good('\0')) }],
    [input(7, 'last')],
  ]);
});
