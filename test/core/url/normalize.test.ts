import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isIpv4 } from '../../../src/core/ip/address.ts';
import { URL_ERRORS } from '../../../src/core/url/errors.ts';
import { normalizeUrl, URL_MAX_LENGTH } from '../../../src/core/url/normalize.ts';
import { splitAuthority } from '../../../src/core/url/split.ts';
import { cpuTimeMs } from '../../cpu-time.ts';
import type { UrlCase } from '../../vectors/url-case.ts';
import * as n01 from '../../vectors/url-n01-n06.ts';
import * as n07 from '../../vectors/url-n07-n08.ts';
import * as n09 from '../../vectors/url-n09-n10.ts';
import * as n11 from '../../vectors/url-n11-n15.ts';
import { anyUrlText, spliced } from './url-texts.ts';

const tables: Record<string, readonly UrlCase[]> = { ...n01, ...n07, ...n09, ...n11 };

for (const [rule, cases] of Object.entries(tables)) {
  describe(`rule ${rule.toUpperCase()}`, () => {
    for (const vector of cases) {
      it(`${vector.id} ${vector.why}`, () => {
        const result = normalizeUrl(vector.input);
        assert.equal(result.ok ? result.url : result.error, 'expect' in vector ? vector.expect : vector.error);
      });
    }
  });
}

/** The grammar of RFC 3986 for normalized URLs, written independently of the code. */
const PCHAR = "(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})";
const RESULT = new RegExp(
  '^(http|https|ftp)://((?:[a-z0-9_-]+\\.)*[a-z0-9_-]+|\\[[0-9a-f:]+\\])(?::(0|[1-9][0-9]{0,4}))?' +
    `((?:/${PCHAR}*)+)(?:\\?((?:${PCHAR}|[/?])*))?$`,
);

describe('every accepted URL', () => {
  it('is ASCII, matches RFC 3986 and consists of the returned parts', () => {
    fc.assert(
      fc.property(anyUrlText, (text) => {
        const result = normalizeUrl(text);
        if (!result.ok) return;
        assert.ok(result.url.length <= URL_MAX_LENGTH);
        const [, scheme, host, port, path, query] = RESULT.exec(result.url) ?? [];
        assert.deepEqual(
          { scheme, host, port: port === undefined ? null : Number(port), path, query: query ?? null },
          { scheme: result.scheme, host: result.host, port: result.port, path: result.path, query: result.query },
        );
      }),
      { numRuns: 20_000 },
    );
  });

  it('is unchanged by a second normalization, with the same parts', () => {
    fc.assert(
      fc.property(anyUrlText, (text) => {
        const result = normalizeUrl(text);
        if (result.ok) assert.deepEqual(normalizeUrl(result.url), result);
      }),
      { numRuns: 20_000 },
    );
  });

  it('is the same with added credentials, fragment, blanks and default port', () => {
    fc.assert(
      fc.property(anyUrlText, fc.stringMatching(/^[a-z:@%]*$/), (text, credentials) => {
        const result = normalizeUrl(text);
        if (!result.ok || result.url.length + credentials.length > 8000) return;
        const port = result.port ?? { http: 80, https: 443, ftp: 21 }[result.scheme];
        const tail = result.url.slice(result.url.indexOf('/', result.scheme.length + 3));
        const extended = ` ${result.scheme.toUpperCase()}://${credentials}@${result.host}:0${port}${tail}#${credentials}\n`;
        assert.deepEqual(normalizeUrl(extended), result);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('normalizeUrl', () => {
  it('never throws, for any value', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const result = normalizeUrl(value);
        if (!result.ok) assert.ok(result.error in URL_ERRORS);
        assert.equal(result.ok === false && result.error === 'invalid_type', typeof value !== 'string');
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), spliced, (text, url) => {
        normalizeUrl(text);
        normalizeUrl(`http://${text}`);
        normalizeUrl(url);
      }),
      { numRuns: 20_000 },
    );
  });

  it('returns the sixteen-byte key of a host that is an address, with IPv4-mapped as IPv4', () => {
    const ip = (url: string) => {
      const result = normalizeUrl(url);
      return result.ok && result.ip !== null ? Buffer.from(result.ip).toString('hex') : null;
    };
    assert.equal(ip('http://192.0.2.1/'), '00000000000000000000ffffc0000201');
    assert.equal(ip('http://0xc0.0.0x201/'), '00000000000000000000ffffc0000201');
    assert.equal(ip('http://[::ffff:192.0.2.1]/'), '00000000000000000000ffffc0000201');
    assert.equal(ip('http://[2001:db8::1]/'), '20010db8000000000000000000000001');
    assert.equal(ip('http://[::192.0.2.1]/'), '000000000000000000000000c0000201');
    assert.equal(ip('http://1.2.3.4.example/'), null);
  });

  it('returns null for a default port and for a missing query', () => {
    const parts = (url: string) => {
      const result = normalizeUrl(url);
      return result.ok ? [result.port, result.path, result.query] : result.error;
    };
    assert.deepEqual(parts('http://a.test:80'), [null, '/', null]);
    assert.deepEqual(parts('http://a.test:0?'), [0, '/', '']);
    assert.deepEqual(parts('https://a.test:80/x?y'), [80, '/x', 'y']);
  });

  it('parses every IPv4 address in each of its forms', () => {
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), (bits) => {
        const quad = [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255);
        const forms = [`${bits}`, `0x${bits.toString(16)}`, `0${bits.toString(8)}`, `${quad[0]}.${bits & 0xffffff}`];
        const octal = quad.map((octet) => `0${octet.toString(8)}`).join('.');
        for (const host of [...forms, octal, `${quad.join('.')}.`, quad.join('%2E'), quad.join('。')]) {
          const result = normalizeUrl(`http://${host}/`);
          assert.equal(result.ok && result.host, quad.join('.'), host);
          assert.ok(result.ok && result.ip !== null && isIpv4(result.ip));
        }
      }),
    );
  });

  /** Quadratic time would need seconds for 8,192 characters. */
  it('takes less than 100 ms for hostile input of 8,192 characters', () => {
    const fill = (prefix: string, unit: string) => prefix + unit.repeat((URL_MAX_LENGTH - prefix.length) / unit.length);
    const ideographs = Array.from({ length: 8000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
    const units = [
      '%',
      '%4',
      '@',
      ':',
      '.',
      '[',
      ']',
      '\\',
      '/',
      '?',
      '#',
      '\t',
      ' ',
      'é',
      '\u200c',
      '\u00ad',
      '\u0300',
    ];
    const prefixes = ['', 'a', 'http://', 'http://a', 'http://[', 'http://a:', 'http://a/', 'http://a?', 'http://é'];
    const hostile = prefixes.flatMap((prefix) => units.map((unit) => fill(prefix, unit)));
    const names = [
      ideographs,
      `${ideographs.slice(0, 252)}.`.repeat(30),
      '\ufdfa'.repeat(8000),
      'ب\u200c'.repeat(4000),
    ];
    for (const url of [...hostile, ...names.map((name) => `http://${name}/`)]) {
      const start = cpuTimeMs();
      normalizeUrl(url.slice(0, URL_MAX_LENGTH));
      const tookMs = cpuTimeMs() - start;
      assert.ok(tookMs < 100, `${tookMs} ms for ${url.slice(0, 20)}`);
    }
  });
});

describe('splitAuthority', () => {
  for (const [text, credentials, host, port] of [
    ['a', null, 'a', null],
    ['a:1', null, 'a', '1'],
    ['a:', null, 'a', ''],
    ['@a', '', 'a', null],
    ['u@a', 'u', 'a', null],
    ['u:p@x@a:1', 'u:p@x', 'a', '1'],
    ['[::1]', null, '[::1]', null],
    ['u@[::1]:1', 'u', '[::1]', '1'],
  ] as const) {
    it(`splits ${text}`, () => assert.deepEqual(splitAuthority(text), { credentials, host, port }));
  }
});

describe('the error messages', () => {
  it('are whole sentences', () => {
    for (const message of Object.values(URL_ERRORS)) assert.match(message, /^The .+\.$/);
  });
});
