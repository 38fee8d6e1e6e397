import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggestion } from '../../src/core/suggestion.ts';

const NAMES = ['add', 'list', 'remote', 'remove', 'urlhaus', 'urlhaus-recent', 'urlhaus-full', '--as', '--data'];

for (const { typed, suggested } of [
  { typed: 'ad', suggested: 'add' },
  { typed: 'lists', suggested: 'list' },
  { typed: 'lsit', suggested: 'list' },
  { typed: 'dad', suggested: 'add' },
  { typed: 'lixxt', suggested: null },
  { typed: 'rexxve', suggested: 'remove' },
  { typed: 'removed', suggested: 'remove' },
  { typed: 'foo', suggested: null },
  { typed: 'urlhause', suggested: 'urlhaus' },
  { typed: 'ulrhaus', suggested: 'urlhaus' },
  { typed: 'urlhaus_recnt', suggested: 'urlhaus-recent' },
  { typed: 'urlhaus-rcn', suggested: null },
  { typed: '', suggested: null },
  { typed: '--fast', suggested: null },
  { typed: '--dtat', suggested: null },
  { typed: '--daat', suggested: '--data' },
  { typed: '--dat', suggested: '--data' },
  { typed: 'urlhaus-rec', suggested: 'urlhaus-recent' },
  { typed: 'rem', suggested: null },
  { typed: 'recent', suggested: 'urlhaus-recent' },
  { typed: 'ull', suggested: 'urlhaus-full' },
  { typed: 'll', suggested: null },
  { typed: '--', suggested: null },
]) {
  test(`for "${typed}" ${suggested ?? 'nothing'} is suggested`, () => {
    assert.equal(suggestion(typed, NAMES), suggested === null ? '' : ` Did you mean "${suggested}"?`);
  });
}
