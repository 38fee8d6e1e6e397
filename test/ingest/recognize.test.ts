import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recognize } from '../../src/ingest/recognize.ts';

const START_BYTES = 4_096;
/** Each takes some milliseconds; this leaves room for a busy machine. */
const MAX_MS = 1_000;

/** Beginnings of a source, and what is repeated after it. */
const REPEATED: [start: string, repeated: string][] = [
  ['<html><title>', ' '],
  ['<html><title>', ' a'],
  ['<html>', '<title '],
  ['<?xml ', ' '],
  ['{', '"cidr":'],
  ['{"ts":1', ' "ts":1'],
  ['{"list":', ' '],
  ['1,', '.'],
  ['a', '.a'],
  ['0.0.0.0', ' '],
];

for (const [start, repeated] of REPEATED) {
  test(`the thread that answers requests is not held up by ${JSON.stringify(`${start}${repeated.repeat(3)}`)}…`, () => {
    const bytes = Buffer.from((start + repeated.repeat(START_BYTES)).slice(0, START_BYTES));
    const startMs = performance.now();
    recognize({ bytes, isWhole: false });
    assert.ok(performance.now() - startMs < MAX_MS);
  });
}

test('the title of a page is shown without the blanks around it', () => {
  const bytes = Buffer.from('<html><title id="a">\n  Please log in \n</title>');
  const found = recognize({ bytes, isWhole: true });
  assert.match(found.kind === 'other' ? found.what : '', /^This is an HTML page \("Please log in"\),/);
});
