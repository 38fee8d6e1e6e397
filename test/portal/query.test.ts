import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkPath, networkTarget, readQuery, refusalText, urlPath } from '../../portal/query.ts';
import { cpuTimeMs } from '../cpu-time.ts';

/** What is typed, and where Enter leads. */
const VECTORS: [typed: string, path: string | null, cost?: number][] = [
  ['http://203.0.113.7/bin.sh', '/url?u=http%3A%2F%2F203.0.113.7%2Fbin.sh'],
  ['  hxxp://203[.]0[.]113[.]7/bin.sh ', '/url?u=http%3A%2F%2F203.0.113.7%2Fbin.sh'],
  ['hxxps[:]//www[.]example[dot]com/a', '/url?u=https%3A%2F%2Fwww.example.com%2Fa'],
  ['203.0.113.7/bin.sh', '/url?u=http%3A%2F%2F203.0.113.7%2Fbin.sh'],
  ['203.0.113.7:8080/bin.sh', '/url?u=http%3A%2F%2F203.0.113.7%3A8080%2Fbin.sh'],
  ['www.example.com:8080', '/url?u=http%3A%2F%2Fwww.example.com%3A8080%2F'],
  ['www[.]example[.]com/a', '/url?u=http%3A%2F%2Fwww.example.com%2Fa'],
  ['www[.]example[.]com/a[.]sh', '/url?u=http%3A%2F%2Fwww.example.com%2Fa.sh'],
  ['www.example.com/a[.]sh', '/url?u=http%3A%2F%2Fwww.example.com%2Fa%5B.%5Dsh'],
  ['203.0.113.7', '/address/203.0.113.7'],
  ['203[.]0[.]113[.]7', '/address/203.0.113.7'],
  ['2001:db8::1', '/address/2001:db8::1'],
  ['[2001:db8::1]', '/address/2001:db8::1'],
  ['198.51.100.77/24', '/network/198.51.100.0/24', 9],
  ['2001:db8::/56', '/network/2001:db8::/56', 9],
  ['198.51.0.0/16', '/search?ip=198.51.0.0%2F16', 17],
  ['198.51.100.0/23', '/search?ip=198.51.100.0%2F23', 10],
  ['2001:db8::/55', '/search?ip=2001%3Adb8%3A%3A%2F55', 10],
  ['example.com', '/domain/example.com'],
  ['WWW.Example[.]com', '/domain/www.example.com'],
  ['bad[.example', '/domain/bad.example'],
  ['bad(.)example', '/domain/bad.example'],
  ['bad [dot] example', '/domain/bad.example'],
  ['203[.0[.113[.7', '/address/203.0.113.7'],
  ['bücher.example', '/domain/b%C3%BCcher.example'],
  ['www.example.com.', '/domain/www.example.com'],
  ['[2001:db8::1]:80', '/url?u=http%3A%2F%2F%5B2001%3Adb8%3A%3A1%5D%3A80%2F'],
  ['[2001:db8::1]/a', '/url?u=http%3A%2F%2F%5B2001%3Adb8%3A%3A1%5D%2Fa'],
  ['d41d8cd98f00b204e9800998ecf8427e', null],
  ['DA39A3EE5E6B4B0D3255BFEF95601890AFD80709', null],
  ['AS64500', '/search?asn=64500'],
  ['as 64500', '/search?asn=64500'],
  ['ASN64500', '/search?asn=64500'],
  ['a'.repeat(64), `/search?sha256=${'a'.repeat(64)}`],
  ['Mirai', '/search?malware_family=Mirai'],
  ['Agent Tesla', '/search?malware_family=Agent%20Tesla'],
  ['999.1.1.1', null],
  ['198.51.100', null],
  ['64500', '/search?asn=64500'],
  ['9999999999', null],
  ['7ev3n', '/search?malware_family=7ev3n'],
  ['user@Evil[.]example', '/domain/evil.example'],
  ['GET http://203.0.113.7/bin.sh', urlPath('http://203.0.113.7/bin.sh')],
  ['URL: hxxp://203[.]0[.]113[.]7/bin.sh', urlPath('http://203.0.113.7/bin.sh')],
  ['<http://203.0.113.7/bin.sh>,', urlPath('http://203.0.113.7/bin.sh')],
  ['203.0.113.7,', '/address/203.0.113.7'],
  ['203.0.113.7.', '/address/203.0.113.7'],
  ['(203[.]0[.]113[.]7)', '/address/203.0.113.7'],
  ['203.0.113.7?', '/address/203.0.113.7'],
  ['[2001:db8::1]?', '/address/2001:db8::1'],
  ['203.0.113.7:8080?', urlPath('http://203.0.113.7:8080/')],
  ['bad[.]example?', '/domain/bad.example'],
  ['a.example?!', '/domain/a.example'],
  ['"a.example?"', '/domain/a.example'],
  ['//a.example?', urlPath('http://a.example')],
  ['a.example?x=1', urlPath('http://a.example?x=1')],
  ['a.example?x=1?', urlPath('http://a.example?x=1?')],
  ['a.example/?', urlPath('http://a.example/?')],
  ['a.example#', urlPath('http://a.example#')],
  ['*.bad.example', '/domain/bad.example'],
  ['"files.example.com";', '/domain/files.example.com'],
  [`${'a'.repeat(64)},`, `/search?sha256=${'a'.repeat(64)}`],
  ['http://203.0.113.7/bin.sh http://203.0.113.7/i', '/bulk'],
  ['see http://203.0.113.7/bin.sh, http://203.0.113.7/i', '/bulk'],
  ['', null],
  ['<img src=x onerror=alert(1)>', null],
  ['javascript:alert(1)', null],
  ['\u202eevil', null],
];

test('the box recognizes what was typed', () => {
  for (const [typed, path, cost = 1] of VECTORS) {
    const [first] = readQuery(typed);
    assert.equal(first?.path ?? null, path, typed);
    if (first) assert.equal(first.cost, cost, typed);
  }
});

test('a hash of another kind is no family, and the reason is said', () => {
  assert.match(refusalText(' d41d8cd98f00b204e9800998ecf8427e'), /SHA-256/);
  assert.match(refusalText('?!'), /none of the things/);
  for (const text of ['999.1.1.1', ' 198.51.100', '1[.]2[.]3'])
    assert.match(refusalText(text), /not a complete address/);
});

/** What is valid keeps its meaning; the second suggestion is another meaning. */
const OFFERS: [typed: string, first: string, second: string | null][] = [
  ['http://203.0.113.7/bin.sh', 'http://203.0.113.7/bin.sh', null],
  ['http://203.0.113.7/bin.sh,', 'http://203.0.113.7/bin.sh,', 'http://203.0.113.7/bin.sh'],
  ['http://203.0.113.7/bin.sh.', 'http://203.0.113.7/bin.sh.', 'http://203.0.113.7/bin.sh'],
  ['hxxp://a[.]example/b (Mirai)', 'http://a.example/b (Mirai)', 'http://a.example/b'],
  ['http://a.example/b,http://b.example/', 'http://a.example/b,http://b.example/', '2 URLs'],
  ['http://a.example/b http://b.example/', '2 URLs', 'http://a.example/b http://b.example/'],
  ['http://a.example/?u=http://b.example/', 'http://a.example/?u=http://b.example/', null],
  ['203.0.113.7:443', 'http://203.0.113.7:443/', '203.0.113.7'],
  ['[2001:db8::1]:80', 'http://[2001:db8::1]:80/', '2001:db8::1'],
  ['www.example.com:8080', 'http://www.example.com:8080/', 'www.example.com'],
  ['//bad[.]example/a', 'http://bad.example/a', 'https://bad.example/a'],
  ['//203.0.113.7:8080', 'http://203.0.113.7:8080', 'https://203.0.113.7:8080'],
  ['bad.example?id=1', 'http://bad.example?id=1', 'https://bad.example?id=1'],
  ['//', '', null],
  ['198.51.100.0/24,', 'http://198.51.100.0/24,', 'https://198.51.100.0/24,'],
  ['(Mirai)', '', null],
];

test('what a copied text has inside is offered', () => {
  for (const [typed, first, second] of OFFERS) {
    const [a, b] = readQuery(typed);
    assert.deepEqual([a?.text ?? '', b?.text ?? null], [first, second], typed);
  }
  const [list] = readQuery('http://a.example/b http://b.example/ http://a.example/b');
  assert.equal(list?.lines, 'http://a.example/b\nhttp://b.example/');
});

test('a host name can mean its domain, the URLs on it, or a family', () => {
  for (const name of ['www.example.com', 'www.example.com.']) {
    const kinds = readQuery(name).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['domain', 'host', 'family'], name);
  }
});

test('half a surrogate pair has a path too', () => {
  assert.equal(urlPath('http://x.example/\ud800'), '/url?u=http%3A%2F%2Fx.example%2F%EF%BF%BD');
});

test('a long text with punctuation inside is read in time that grows with its length', () => {
  const start = cpuTimeMs();
  readQuery(`a${' .'.repeat(20_000)}a`);
  const tookMs = cpuTimeMs() - start;
  assert.ok(tookMs < 1_000, `${tookMs} ms`); // if each character may begin its end: 5 s
});

test('an address has a page, and so has a network that is not too wide', () => {
  assert.equal(networkPath('2001:db8::1'), '/address/2001:db8::1');
  assert.equal(networkPath('2001:db8::/32'), '/network/2001:db8::/32');
  assert.deepEqual(['192.0.2.1', '192.0.2.0/24', '192.0.2.0/23', '2001:db8::/56', '2001:db8::/55'].map(networkTarget), [
    '/address/192.0.2.1',
    '/network/192.0.2.0/24',
    '/search?ip=192.0.2.0%2F23',
    '/network/2001:db8::/56',
    '/search?ip=2001%3Adb8%3A%3A%2F55',
  ]);
});
