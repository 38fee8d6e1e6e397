import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { normalizeHost, parseHostKey, parseIpv4Number } from '../../../src/core/url/host.ts';
import { normalizeUrl } from '../../../src/core/url/normalize.ts';

/** The vectors of N7 to N10 are tested with `normalizeUrl`. */
it('a host is normalized in the same way alone and inside a URL', () => {
  const alphabet = fc.constantFrom(...'aB0179.-_xfé日%2eC3A9[]:。\u00ad');
  fc.assert(
    fc.property(fc.string({ unit: alphabet, minLength: 1, maxLength: 12 }), (text) => {
      const host = normalizeHost(text);
      const url = normalizeUrl(`http://${text}/`);
      if (host.ok) assert.deepEqual(url.ok && { ok: true, host: url.host, ip: url.ip }, host);
      else assert.ok(!url.ok || url.host !== text);
    }),
    { numRuns: 10_000 },
  );
});

it('the search key host accepts IPv6 without brackets, and an IPv4-mapped address has the key of its IPv4 address', () => {
  assert.deepEqual(parseHostKey('2001:db8::1'), normalizeHost('[2001:db8::1]'));
  assert.deepEqual(parseHostKey('[2001:db8::1]'), normalizeHost('[2001:db8::1]'));
  for (const text of ['[::1', '::1]', '[::1]x', '[::1x']) assert.equal(parseHostKey(text).ok, false, text);
  const mapped = parseHostKey('::ffff:192.0.2.1');
  const plain = parseHostKey('192.0.2.1');
  assert.ok(mapped.ok && plain.ok);
  assert.deepEqual(mapped.ip, plain.ip);
  assert.notEqual(mapped.host, plain.host);
});

it('every number form of an IPv4 address is a number of 32 bits', () => {
  const forms = ['2130706433', '127.1', '0x7f.0.1', '0177.0.0.1', '127.0.0.1'];
  assert.deepEqual(forms.map(parseIpv4Number), new Array(5).fill(0x7f00_0001));
  assert.deepEqual(['4294967295', '4294967296', '1.2.3.4.5', '0'].map(parseIpv4Number), [0xffff_ffff, null, null, 0]);
});
