import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUrlFilter } from '../../src/urls/url-filter.ts';

const URLS = 2 ** 16;
const urlAt = (i: number) => `http://${i % 7}.example/${i}/${i % 3 === 0 ? 'é\u{1f600}' : 'bin.sh'}`;

test('a filter has every URL that was added, and few others', () => {
  const words = new Int32Array(new SharedArrayBuffer(2 * URLS));
  const filter = createUrlFilter(words);
  for (let i = 0; i < URLS; i++) filter.add(urlAt(i));
  for (let i = 0; i < URLS; i++) assert.ok(filter.mayHave(urlAt(i)), urlAt(i));
  let others = 0;
  for (let i = 0; i < URLS; i++) if (filter.mayHave(`${urlAt(i)}~`)) others++;
  assert.ok(others < URLS / 400, `${others} of ${URLS}`); // 0.11 % are to be expected
});

test('an empty filter has no URL', () => {
  const filter = createUrlFilter(new Int32Array(new SharedArrayBuffer(2 * URLS)));
  assert.ok(!filter.mayHave(urlAt(0)) && !filter.mayHave(''));
});
