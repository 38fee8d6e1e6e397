import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostParts, parseDomainName } from '../../src/core/domain-name.ts';
import { formatIp } from '../../src/core/ip/address.ts';

const NAMES: [text: string, hostname: string, domain: string][] = [
  ['example.com', 'example.com', 'example.com'],
  ['WWW.Example.COM.', 'www.example.com', 'example.com'],
  ['a.b.example.co.uk', 'a.b.example.co.uk', 'example.co.uk'],
  ['user.github.io', 'user.github.io', 'user.github.io'],
  ['deep.user.github.io', 'deep.user.github.io', 'user.github.io'],
  ['a.b.unknown-top-level', 'a.b.unknown-top-level', 'b.unknown-top-level'],
  ['münchen.example', 'xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
  ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
  ['a-.example.com', 'a-.example.com', 'example.com'],
  ['_dmarc.example.com', '_dmarc.example.com', 'example.com'],
];

test('a name belongs to the domain one label below its public suffix, ICANN or private', () => {
  for (const [text, hostname, domain] of NAMES) {
    assert.deepEqual(parseDomainName(text), { ok: true, name: { hostname, domain } }, text);
  }
});

test('a public suffix, an address and other texts are no domains', () => {
  for (const text of ['com', 'co.uk', 'github.io', 'localhost']) {
    assert.deepEqual(parseDomainName(text), { ok: false, reason: 'suffix' }, text);
  }
  for (const text of ['192.0.2.1', '2001:db8::1', '[2001:db8::1]']) {
    assert.deepEqual(parseDomainName(text), { ok: false, reason: 'address' }, text);
  }
  for (const text of ['', '.', 'a..b', 'exa mple.com', 'http://example.com/', `${'a'.repeat(64)}.com`]) {
    assert.deepEqual(parseDomainName(text), { ok: false, reason: 'not_a_name' }, text);
  }
});

test('the parts of a host of a URL', () => {
  const shown = (host: string) => {
    const { domain, ip } = hostParts(host);
    return [domain, ip && formatIp(ip)];
  };
  assert.deepEqual(shown('www.example.com'), ['example.com', null]);
  assert.deepEqual(shown('github.io'), [null, null]);
  assert.deepEqual(shown('192.0.2.1'), [null, '192.0.2.1']);
  assert.deepEqual(shown('[2001:db8::1]'), [null, '2001:db8::1']);
  assert.deepEqual(shown('[::ffff:c000:201]'), [null, '192.0.2.1']);
});
