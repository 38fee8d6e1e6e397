import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { normalizeUrl } from '../../src/core/url/normalize.ts';
import { parseSearchKey, type SearchKeyName, searchCost } from '../../src/urls/search-key.ts';
import { nearlyUrl } from '../core/url/url-texts.ts';
import * as tables from '../vectors/search-key.ts';

for (const [table, cases] of Object.entries(tables)) {
  describe(table, () => {
    for (const { id, name, value, key, why } of cases) {
      it(`${id} ${why}`, () => {
        const parsed = parseSearchKey(name, value);
        if (key === undefined) return assert.ok(!parsed.ok && parsed.reason.startsWith(`${name} must be `));
        assert.deepEqual(parsed, { ok: true, key });
        if (key.by === 'asn') assert.ok(parsed.ok && 'asn' in parsed.key && Object.is(parsed.key.asn, key.asn));
      });
    }
  });
}

const names: SearchKeyName[] = ['ip', 'host', 'asn', 'malware_family', 'sha256'];

describe('a search key', () => {
  it('costs what its network costs, otherwise one', () => {
    const cost = (name: SearchKeyName, value: string | number) => {
      const parsed = parseSearchKey(name, value);
      return parsed.ok ? searchCost(parsed.key) : parsed.reason;
    };
    assert.equal(cost('ip', '192.0.2.0/24'), 9);
    assert.equal(cost('ip', '192.0.2.1'), 1);
    assert.equal(cost('ip', '::/0'), 65);
    assert.equal(cost('host', 'example.com'), 1);
    assert.equal(cost('asn', 64500), 1);
    assert.equal(cost('malware_family', 'Mirai'), 1);
    assert.equal(cost('sha256', 'a'.repeat(64)), 1);
  });

  it('host has at most 8,192 characters, including those that IDNA removes', () => {
    const host = (length: number) => parseSearchKey('host', `a${'\u00ad'.repeat(length - 1)}`);
    assert.deepEqual(host(8_192), { ok: true, key: { by: 'host', host: 'a' } });
    assert.equal(host(8_193).ok, false);
  });

  it('malware_family has at most 128 characters, not UTF-16 units', () => {
    const isFamily = (length: number) => parseSearchKey('malware_family', '\u{1f512}'.repeat(length)).ok;
    assert.deepEqual([isFamily(128), isFamily(129)], [true, false]);
  });

  it('that is refused names itself, whatever the value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.oneof(fc.string({ unit: 'binary' }), fc.double()), (name, value) => {
        const parsed = parseSearchKey(name, value);
        if (!parsed.ok)
          assert.ok(parsed.reason.startsWith(`${name} must be `) || parsed.reason.startsWith('ip must have'));
      }),
      { numRuns: 5_000 },
    );
  });

  it('for the host of a URL is that host, with IPv6 in brackets or without', () => {
    fc.assert(
      fc.property(nearlyUrl, (text) => {
        const url = normalizeUrl(text);
        if (!url.ok) return;
        const expected = { ok: true, key: { by: 'host', host: url.host } };
        assert.deepEqual(parseSearchKey('host', url.host), expected);
        assert.deepEqual(parseSearchKey('host', url.host.replace(/^\[|\]$/g, '')), expected);
      }),
      { numRuns: 5_000 },
    );
  });
});
