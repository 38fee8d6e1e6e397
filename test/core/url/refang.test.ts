import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseNetwork } from '../../../src/core/ip/network.ts';
import { parseHostKey } from '../../../src/core/url/host.ts';
import { normalizeUrl } from '../../../src/core/url/normalize.ts';
import { refangHost, refangSchemeless, refangUrl } from '../../../src/core/url/refang.ts';
import { anyUrlText } from './url-texts.ts';

const URLS: [text: string, url: string][] = [
  ['hxxp://example[.]com/a', 'http://example.com/a'],
  ['hXXps://www[.]example[.]com', 'https://www.example.com'],
  ['HXXPS://example(.)com', 'https://example.com'],
  ['hxxps[:]//example{.}com:8080/', 'https://example.com:8080/'],
  ['http[://]example.com[:]8080/', 'http://example.com:8080/'],
  ['http(:)//example.com(:)8080/', 'http://example.com:8080/'],
  ['h**p://example[dot]com', 'http://example.com'],
  ['htxp://a(dot)example{DOT}com', 'http://a.example.com'],
  ['fxp://example[.]com/', 'ftp://example.com/'],
  ['ftp://198[.]51[.]100[.]7/', 'ftp://198.51.100.7/'],
  ['hxxp://[2001[:]db8[:][:]1]/', 'http://[2001:db8::1]/'],
  ['<hxxp://example[.]com/>', 'http://example.com/'],
  [' "http://example.com/" ', 'http://example.com/'],
  ["'http://example.com/'", 'http://example.com/'],
  ['`http://example.com/`', 'http://example.com/'],
  // Every dot and the colon, as CyberChef writes them.
  ['hxxp[://]203[.]0[.]113[.]7/bin[.]sh?f=a[.]exe#b[.]c', 'http://203.0.113.7/bin.sh?f=a.exe#b.c'],
  ['hxxp://example.com/a[.]b', 'http://example.com/a.b'],
  ['http://example[.]com/a[.]b', 'http://example.com/a.b'],
  ['http[:]//example.com?a[.]b', 'http://example.com?a.b'],
  ['hxxp://example[.]com/a(.)b{.}c[dot]d[:]e', 'http://example.com/a(.)b{.}c[dot]d[:]e'],
  ['"http://example.com/a[.]b"', 'http://example.com/a[.]b'],
  ['hxxp://a[.example.]com(.b.)c{.d.}e/x[.y', 'http://a.example.com.b.c.d.e/x[.y'],
  ['http://example [.] com/', 'http://example.com/'],
  ['hxxp://user[.]name@example[.]com/', 'http://user[.]name@example.com/'],
];

const UNCHANGED = [
  'HTTP://Example.com/a[.]b(.)c[:]d?e=[.]#[.]',
  ' http://example.com/ ',
  'http://[2001:db8::1]:80/',
  'http://[::]/',
  'http://a[.]b@example.com/',
  'http://example.com/"',
  'mailto:a[.]b',
  'example[.]com/a',
  '<',
  '"',
  '',
];

test('defanged URLs are restored', () => {
  for (const [text, url] of URLS) assert.equal(refangUrl(text), url);
});

test('brackets after a host that is not defanged and in credentials, IPv6 hosts and texts without a scheme stay', () => {
  for (const text of UNCHANGED) assert.equal(refangUrl(text), text);
});

test('URLs without a scheme are restored in the same way', () => {
  for (const [text, url] of [
    ['203[.]0[.]113[.]7/bin[.]sh', '203.0.113.7/bin.sh'],
    ['<bad(dot)example[:]8080/a[.]b>', 'bad.example:8080/a.b'],
    ['bad.example/a[.]b?c[.]d', 'bad.example/a[.]b?c[.]d'],
    ['bad[.]example', 'bad.example'],
    ['bad\\.example/a[.]b\\.c', 'bad.example/a.b\\.c'],
    ['bad.example\\a[.]b', 'bad.example\\a[.]b'],
  ]) {
    assert.equal(refangSchemeless(text ?? ''), url);
  }
});

test('hosts, addresses and networks are restored', () => {
  for (const [text, host] of [
    ['www[.]example[.]com', 'www.example.com'],
    ['www(.)example{.}com[dot]', 'www.example.com.'],
    ['"198[.]51[.]100[.]7"', '198.51.100.7'],
    ['198[.]51[.]100[.]0/24', '198.51.100.0/24'],
    ['2001[:]db8[:][:]1', '2001:db8::1'],
    ['203[.0[.113.]7', '203.0.113.7'],
    ['example [dot] com', 'example.com'],
    ['www\\.example\\.com', 'www.example.com'],
    ['[2001:db8::1]', '[2001:db8::1]'],
    ['example.com', 'example.com'],
  ]) {
    assert.equal(refangHost(text ?? ''), host);
  }
});

test('a valid URL, host or network is never changed', () => {
  fc.assert(
    fc.property(
      anyUrlText,
      fc.constantFrom('', '[.]', '(dot)', '[:]', '{.}', '[.', '.]', ' (.) ', '\\.'),
      fc.nat(),
      (text, mark, at) => {
        const place = at % (text.length + 1);
        const marked = text.slice(0, place) + mark + text.slice(place);
        if (normalizeUrl(marked).ok) assert.equal(refangUrl(marked), marked);
        if (parseHostKey(marked).ok || parseNetwork(marked).ok) assert.equal(refangHost(marked), marked);
      },
    ),
    { numRuns: 10_000 },
  );
});

const label = fc.stringMatching(/^[a-z0-9_]{1,8}$/);
const host = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => `${labels.join('.')}.example`),
  fc.ipV4(),
  fc.ipV6().map((ip) => `[${ip}]`),
);
const dots = fc.constantFrom('.', '[.]', '(.)', '{.}', '[dot]', '(Dot)', '{DOT}', '[.', '.}', ' [.] ');
const colons = fc.constantFrom(':', '[:]', '(:)');
const wrappers = fc.constantFrom(['', ''], ['<', '>'], ['"', '"'], ["'", "'"], ['`', '`']);
const schemes = fc.constantFrom(
  ...['http', 'hxxp', 'hXXp', 'h**p', 'htxp'].map((text) => [text, 'http'] as const),
  ...['https', 'hxxps', 'HXXPS'].map((text) => [text, 'https'] as const),
  ...['ftp', 'fxp'].map((text) => [text, 'ftp'] as const),
);
const separators = fc.constantFrom('://', '[:]//', '(:)//', '[://]', '(://)');
const tails = fc.constantFrom('', '/', '/a[.]b(dot)c[:]', '?x=[.]', '#[.]', '/<a>"', '/a@b[.]c');

test('every way to defang a URL is undone; after the host, [.] alone', () => {
  fc.assert(
    fc.property(schemes, separators, host, dots, colons, wrappers, tails, (...parts) => {
      const [[written, scheme], separator, plain, dot, colon, [open, close], tail] = parts;
      const defanged = `${plain}:8080`.replaceAll('.', () => dot).replaceAll(':', () => colon);
      const url = refangUrl(`${open}${written}${separator}${defanged}${tail}${close}`);
      const isDefanged = written !== scheme || separator !== '://' || defanged !== `${plain}:8080`;
      assert.equal(url, `${scheme}://${plain}:8080${isDefanged ? tail.replaceAll('[.]', '.') : tail}`);
      assert.equal(refangHost(plain.replaceAll('.', () => dot).replaceAll(':', () => colon)), plain);
    }),
    { numRuns: 2_000 },
  );
});
