import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  filterFacts,
  leftOutRows,
  leftOutSum,
  previewText,
  readDefinition,
  readExclusion,
  readFilter,
  readPreview,
} from '../../portal/device-lists.ts';
import { DEFAULT_FILTER } from '../../src/exports/built-in.ts';
import { toListItem } from '../../src/exports/wire.ts';

const listOf = (filter: object, kind: 'urls' | 'hosts' | 'addresses' = 'hosts') => ({
  ...toListItem({ name: 'own', kind, description: '', filter: { ...DEFAULT_FILTER, ...filter }, changedTs: 1 }),
  allowed: true,
  formats: [],
  entries: null,
  left_out: {},
  serial_ts: null,
});

describe('the preview of a list', () => {
  test('headers say what the whole list has', () => {
    const headers = new Headers({
      'last-modified': 'Tue, 10 Nov 2026 08:14:00 GMT',
      'x-list-entries': '1234',
      'x-list-left-out': 'shared-site=3, address=84',
      warning: '110 - "Response is Stale"',
      age: '90',
    });
    const preview = readPreview(headers, `# Serial: 1\r\nsite.example\r\nx\u202ey\r\n${'a'.repeat(8_000)}\r\n`);
    assert.deepEqual(preview.lines.slice(0, 3), ['# Serial: 1', 'site.example', 'x\\u202ey']);
    assert.equal(preview.lines[3]?.length, 401);
    assert.deepEqual(leftOutRows(preview.leftOut), [
      ['address', 84],
      ['shared-site', 3],
    ]);
    assert.equal(leftOutSum(preview.leftOut), 87);
    assert.deepEqual([preview.changedTs, preview.staleSeconds], [Date.UTC(2026, 10, 10, 8, 14) / 1000, 90]);
    assert.equal(previewText(preview), 'The newest 20 of 1,234 entries');
  });

  test('a last line without its end is a line', () => {
    assert.deepEqual(readPreview(new Headers(), 'a.example\nb.example').lines, ['a.example', 'b.example']);
  });

  test('an empty list', () => {
    const preview = readPreview(new Headers({ 'x-list-entries': '0' }), '');
    assert.deepEqual([preview.lines, preview.leftOut, preview.changedTs, preview.staleSeconds], [[], {}, null, null]);
    assert.match(previewText(preview), /^The list is empty/);
  });
});

test('the filter in words leaves out what does not restrict', () => {
  const shown = (list: ReturnType<typeof listOf>) =>
    Object.entries(filterFacts(list)).flatMap(([name, text]) => (text === null ? [] : [`${name}: ${text}`]));
  assert.deepEqual(shown(listOf({ maxScore: -10.5, families: ['Mirai', 'a\u202e'] })), [
    'What is on it: Host names',
    'Status: Online',
    'Seen in the last: 30 days',
    'Families: Mirai, a\\u202e',
    'Score of the domain: −10.5 or lower',
  ]);
  assert.deepEqual(shown(listOf({ datasets: ['BCL'] }, 'addresses')), [
    'What is on it: Addresses',
    'Seen in the last: 30 days',
    'Datasets: BCL',
  ]);
});

describe('forms of administrators', () => {
  test('each kind sends what the server takes for it', () => {
    const texts = {
      name: ' own ',
      age: '0.5',
      status: 'any',
      families: 'Mirai, ,Mozi',
      max_score: '−10.5',
      'dataset-BCL': 'on',
    };
    const common = { name: 'own', description: '', age_seconds: 43_200, families: ['Mirai', 'Mozi'] };
    assert.deepEqual(readDefinition({ ...texts, kind: 'urls' }), {
      ...common,
      kind: 'urls',
      status: 'any',
      reporters: [],
    });
    assert.deepEqual(readDefinition({ ...texts, kind: 'domains' }), {
      ...common,
      kind: 'hosts',
      max_score: -10.5,
      listed_domains: true,
    });
    assert.deepEqual(readDefinition({ ...texts, kind: 'addresses' }), {
      ...common,
      kind: 'addresses',
      datasets: ['BCL'],
    });
    assert.deepEqual(readFilter('hosts', { age: '30', status: 'online' }), {
      description: '',
      age_seconds: 2_592_000,
      families: [],
      status: 'online',
      reporters: [],
      max_score: null,
    });
    for (const age of ['', 'x', ' ', '0', '-5', '3661']) {
      assert.throws(() => readFilter('urls', { age }), /^Error: Seen in the last days: write a number/);
    }
  });

  test('a score that is no number is not the same as none', () => {
    assert.throws(() => readFilter('hosts', { age: '30', status: 'any', max_score: 'x' }), /write a number/);
  });

  test('an exclusion without a choice is for all lists and has no end', () => {
    assert.deepEqual(readExclusion({ value: 'shop.example', reason: 'ours' }), {
      value: 'shop.example',
      reason: 'ours',
    });
    const given = { value: 'shop.example', reason: 'ours', subdomains: 'on', list: 'own', seconds: '60' };
    const { until_ts: untilTs, ...others } = readExclusion(given) as { until_ts: number };
    assert.deepEqual(others, { value: 'shop.example', reason: 'ours', subdomains: true, list: 'own' });
    assert.ok(Math.abs(untilTs - Date.now() / 1000 - 60) < 5);
  });
});
