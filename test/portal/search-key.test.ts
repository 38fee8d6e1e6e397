import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  dayEnd,
  dayStart,
  pathOf,
  readSearch,
  titleOf,
  windowName,
  windowOf,
  windowText,
} from '../../portal/search-key.ts';

const HASH = 'AB'.repeat(32);
const NOW = Date.UTC(2026, 10, 16, 12) / 1_000;

const read = (query: string) => readSearch(new URLSearchParams(query));

describe('the address of a search', () => {
  it('has one key, and its cost', () => {
    for (const [query, value, cost] of [
      ['ip=198.51.100.77/24', '198.51.100.0/24', 9],
      ['ip=198.51.100[.]7', '198.51.100.7', 1],
      ['ip=2001:db8::/56', '2001:db8::/56', 9],
      ['host=bad[.]example', 'bad.example', 1],
      ['asn=AS64500', '64500', 1],
      ['asn=064500', '64500', 1],
      ['malware_family=Mirai', 'Mirai', 1],
      [`sha256=${HASH}`, HASH.toLowerCase(), 1],
    ] as const) {
      const found = read(query);
      assert.deepEqual(found.search && [found.search.value, found.cost], [value, cost], query);
    }
  });

  it('can be read again from the path that it becomes', () => {
    for (const path of ['/search?malware_family=a%26b%20c&since=1&until=1', '/search?host=a.example']) {
      const { search } = read(path.slice('/search?'.length));
      assert.equal(search && pathOf(search), path);
    }
  });

  it('has words for its title', () => {
    for (const [query, title] of [
      ['ip=198.51.100.7', 'URLs at 198.51.100.7'],
      ['ip=198.51.100.0/24', 'URLs in 198.51.100.0/24'],
      ['asn=64500', 'URLs in AS64500'],
    ] as const) {
      const { search } = read(query);
      assert.equal(search && titleOf(search).join(' '), title);
    }
  });

  it('says what is wrong with it', () => {
    assert.deepEqual(read('since=5'), { search: null, problem: null, typed: null });
    for (const [query, problem] of [
      ['ip=198.51.100.0/33', /no address and no network/],
      ['ip=', /Type what to search for/],
      ['ip=192.0.2.1&host=a.example', /exactly one/],
      ['host=a.example&host=b.example', /exactly one/],
      ['asn=x', /AS64500/],
      ['sha256=abc', /64 hexadecimal digits/],
      [`malware_family=${'a'.repeat(129)}`, /at most 128/],
      ['host=a.example&since=yesterday', /Unix seconds/],
      ['host=a.example&since=2&until=1', /after the last day/],
    ] as const) {
      const found = read(query);
      assert.equal(found.search, null, query);
      assert.match(found.problem ?? '', problem);
    }
  });

  it('keeps for the form what can be read', () => {
    const found = read('host=a.example&since=yesterday&until=5');
    assert.ok(found.search === null);
    assert.deepEqual(found.typed, { name: 'host', value: 'a.example', since: null, until: 5 });
  });
});

describe('the window of a search', () => {
  it('has a name if it has a button', () => {
    for (const name of ['30-days', '12-months', 'all'] as const) {
      const { since, until } = windowOf(name, NOW);
      assert.equal(windowName(since, until, NOW), name);
    }
    assert.equal(windowOf('30-days', NOW).since, dayStart('2026-10-17'));
    assert.equal(windowName(5, null, NOW), 'custom');
    assert.equal(windowName(null, 5, NOW), 'custom');
  });

  it('is written with dates', () => {
    assert.equal(windowText(null, null, NOW), 'in the last 12 months');
    assert.equal(windowText(dayStart('2026-10-01'), dayEnd('2026-10-31'), NOW), 'from 1 Oct 2026 to 31 Oct 2026');
    assert.equal(windowText(999_999_999_999, null, NOW), 'from 27 Sep 33658 to now');
    assert.equal(dayEnd('2026-10-31'), Date.UTC(2026, 10, 1) / 1_000 - 1);
    assert.equal(dayStart(''), null);
    assert.equal(dayEnd(''), null);
  });
});
