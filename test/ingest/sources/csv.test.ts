import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CsvRow, readCsv } from '../../../src/ingest/sources/csv.ts';
import { INPUT_LIMITS, type RejectItem } from '../../../src/ingest/sources/format.ts';
import { sourceOf } from '../../../src/ingest/sources/source.ts';
import { inChunks } from '../formats/read-items.ts';

const ROWS: [text: string, fields: string[][]][] = [
  ['a,b\n', [['a', 'b']]],
  ['a,b', [['a', 'b']]],
  [
    'a,b\r\nc,d\r\n',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['"a","b"\n', [['a', 'b']]],
  ['"a", "b",   "c"\n', [['a', 'b', 'c']]],
  ['"a,b","c""d",""""\n', [['a,b', 'c"d', '"']]],
  ['"",,\n', [['', '', '']]],
  [' a , b \n', [[' a ', ' b ']]],
  ['"a\nb","c"\n', [['a\nb', 'c']]],
  ['"a\r\nb","c"\r\n', [['a\r\nb', 'c']]],
  [
    '"a\n\n#b\n""\n","c"\nd,e\n',
    [
      ['a\n\n#b\n"\n', 'c'],
      ['d', 'e'],
    ],
  ],
  ['\n\r\n\na\n', [['a']]],
  ['"a","ä€😀"\n', [['a', 'ä€😀']]],
];

for (const [text, fields] of ROWS) {
  test(`reads ${JSON.stringify(text)}, in chunks of any size`, async () => {
    for (const size of [1, 3, 1000]) {
      const rows = await read(text, size);
      assert.deepEqual(
        rows.map((row) => (row.kind === 'row' ? row.fields : row)),
        fields,
      );
    }
  });
}

test('a row has its text and the number of its first line', async () => {
  const rows = await read('# note\n"a\nb",1\n\nc,2\n');
  assert.deepEqual(
    rows.map(({ kind, line, text }) => ({ kind, line, text })),
    [
      { kind: 'comment', line: 1, text: ' note' },
      { kind: 'row', line: 2, text: '"a\nb",1' },
      { kind: 'row', line: 5, text: 'c,2' },
    ],
  );
});

const UNEXPECTED_QUOTE = 'unexpected quote: quote the whole field, and write a quote inside it as ""';
const NOT_CLOSED = 'a quoted field has no closing quote';
const NUL_BYTE = 'the line contains a NUL byte; convert the file to UTF-8 text';
const INVALID_UTF8 = 'the line is not valid UTF-8; convert the file';
const TOO_LONG = 'the line is longer than --max-line-bytes';

const BAD: [what: string, text: string | Buffer, rejects: [line: number, reason: string][], good: number][] = [
  ['text after a quoted field', '"a"b,c\nd,e\n', [[1, UNEXPECTED_QUOTE]], 1],
  ['a quote inside a plain field', 'a"b,c\nd,e\n', [[1, UNEXPECTED_QUOTE]], 1],
  ['an unclosed quote', 'a,"b\nc,d\ne,f\n', [[1, NOT_CLOSED]], 2],
  ['an unclosed quote among quoted rows', 'a,"b\n"c","d"\n"e","f"\n', [[1, NOT_CLOSED]], 2],
  ['a quote opened on the last line', 'c,d\na,"b\n', [[2, NOT_CLOSED]], 1],
  ['NUL bytes', 'a,\0\nc,d\n', [[1, NUL_BYTE]], 1],
  [
    'a NUL byte in an open field',
    '"a\n\0\n"b"\n',
    [
      [1, NOT_CLOSED],
      [2, NUL_BYTE],
    ],
    1,
  ],
  ['invalid UTF-8', Buffer.from('a,\xff\nc,d\n', 'latin1'), [[1, INVALID_UTF8]], 1],
  ['a truncated UTF-8 character', Buffer.from('c,d\na,\xc3', 'latin1'), [[2, INVALID_UTF8]], 1],
  ['a line that is too long', `${'x'.repeat(300)}\nc,d\n`, [[1, TOO_LONG]], 1],
  ['a row that is too long', `"a\n${'y\n'.repeat(200)}`, [[1, NOT_CLOSED]], 200],
];

for (const [what, text, rejects, good] of BAD) {
  test(`${what} rejects only that line`, async () => {
    for (const size of [1, 1000]) {
      const rows = await read(text, size, 256);
      const rejected = rows.filter((row) => row.kind === 'reject');
      assert.deepEqual(
        rejected.map(({ line, reason }) => [line, reason]),
        rejects,
      );
      assert.equal(rows.filter((row) => row.kind === 'row').length, good);
    }
  });
}

test('a row may have up to a thousand lines', async () => {
  const rowOf = (lines: number) => `"${'\n'.repeat(lines - 1)}"\n`;
  assert.deepEqual(
    (await read(rowOf(1_000))).map(({ kind }) => kind),
    ['row'],
  );
  assert.equal((await read(rowOf(1_001)))[0]?.kind, 'reject');
});

for (const [length, kind] of [
  [256, 'row'],
  [257, 'reject'],
] as const) {
  test(`with a limit of 256 bytes per line, a row of several lines and ${length} characters is a ${kind}`, async () => {
    const start = `"${'a'.repeat(99)}\n${'b'.repeat(99)}\n`;
    const [before, row] = await read(`x,"y\nz"\n${start}${'c'.repeat(length - start.length - 1)}"\n`, 1000, 256);
    assert.deepEqual([before?.kind, row?.kind], ['row', kind]);
  });
}

test('rows are returned as they arrive', async () => {
  const counts: number[] = [];
  const source = sourceOf('test', inChunks(Buffer.from('a\nb\nc\n'), 4), null, () => null);
  for await (const some of readCsv(source, INPUT_LIMITS)) counts.push(some.length);
  assert.deepEqual(counts, [2, 1, 0]);
});

test('an unclosed quote in a large file rejects one line, in linear time', async () => {
  const rows = await read(`"open\n${'"1","2"\n"3"\n'.repeat(50_000)}`, 64 * 1024);
  assert.equal(rows.filter((row) => row.kind === 'reject').length, 1);
  assert.equal(rows.length, 100_001);
  const openings = await read('"x\ny\n'.repeat(50_000), 64 * 1024);
  assert.equal(openings.length, 100_000);
});

test('valid CSV is parsed to the original fields', async () => {
  const field = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', ' ', '#', 'a') }),
  );
  const table = fc.array(
    fc.array(
      field.filter((text) => !text.includes('\0')),
      { minLength: 1, maxLength: 5 },
    ),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(table, fc.constantFrom('\n', '\r\n'), fc.nat({ max: 20 }), async (rows, end, size) => {
      const text = rows.map((fields) => fields.map((one) => `"${one.replaceAll('"', '""')}"`).join(',') + end).join('');
      const found = await read(text, size + 1);
      assert.deepEqual(
        found.map((row) => (row.kind === 'row' ? row.fields : row)),
        rows,
      );
    }),
  );
});

test('any bytes are parsed to rows, comments or rejects, in the order of their lines', async () => {
  const bytes = fc.array(fc.constantFrom(0x22, 0x2c, 0x0a, 0x0d, 0x23, 0x20, 0x61, 0x00, 0xff), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(bytes, async (list) => {
      const input = Buffer.from(list);
      const rows = await read(input, 7);
      const lines = rows.map(({ line }) => line);
      assert.deepEqual(
        lines,
        [...new Set(lines)].sort((a, b) => a - b),
      );
      assert.deepEqual(await read(input, 1000), rows);
    }),
    { numRuns: 500 },
  );
});

async function read(
  text: string | Buffer,
  chunkBytes = 1000,
  maxLineBytes = 2 ** 20,
): Promise<(CsvRow | RejectItem)[]> {
  const source = sourceOf('test', inChunks(Buffer.from(text), chunkBytes), null, () => null);
  const rows: (CsvRow | RejectItem)[] = [];
  for await (const some of readCsv(source, { ...INPUT_LIMITS, maxLineBytes })) rows.push(...some);
  return rows;
}
