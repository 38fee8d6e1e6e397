import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvRow, splitRow } from '../../src/core/csv.ts';

for (const [cell, text] of [
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@a', "'@a"],
  ['\ta', "'\ta"],
  ['\0=1+1', "'\0=1+1"],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['a\nb', '"a\nb"'],
  ['http://a/', 'http://a/'],
  [-5, '-5'],
  [null, ''],
  [undefined, ''],
] as const) {
  test(`the cell ${JSON.stringify(cell)} is safe for spreadsheets`, () => assert.equal(csvRow([cell]), `${text}\r\n`));
}

test('without a delimiter a row is one field', () => {
  for (const [row, fields] of [
    ['a,b', ['a,b']],
    [' "a,""b"', ['a,"b']],
    ['', ['']],
    ['a"b', 'malformed'],
    ['"a"b', 'malformed'],
    ['"a', 'open'],
  ] as const) {
    assert.deepEqual(splitRow(row, ''), fields, row);
  }
});
