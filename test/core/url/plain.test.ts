import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isPlainUrl, normalizeUrl, URL_MAX_LENGTH } from '../../../src/core/url/normalize.ts';
import { cpuTimeMs } from '../../cpu-time.ts';
import { anyUrlText } from './url-texts.ts';

const isOwnNormalForm = (text: string): boolean => {
  const normal = normalizeUrl(text);
  return normal.ok && normal.url === text;
};

/** Characters that matter to the rules, to be inserted into normalized URLs. */
const significant = fc.constantFrom(
  ...'.:/?#@%[]\\ \t\n0159azAZ-_~!(|é\u00ad。'.split(''),
  '//',
  '..',
  '0x',
  ':80',
  ':0',
  '%41',
);

const plainUrl = fc.constantFrom('http://192.0.2.1:8080/bin.sh', 'https://cdn-1.a.example/b/c?x=1', 'ftp://a1/b');

describe('isPlainUrl', () => {
  it('is true only for URLs that normalizeUrl returns unchanged', () => {
    let plain = 0;
    const check = (text: string) => {
      if (!isPlainUrl(text)) return;
      plain++;
      assert.ok(isOwnNormalForm(text), text);
    };
    fc.assert(fc.property(anyUrlText, check), { numRuns: 20_000 });
    fc.assert(
      fc.property(fc.oneof(anyUrlText, plainUrl), fc.nat(), fc.nat(3), significant, (text, at, removed, added) => {
        const normal = normalizeUrl(text);
        if (!normal.ok) return;
        const place = at % (normal.url.length + 1);
        check(normal.url.slice(0, place) + added + normal.url.slice(place + removed));
      }),
      { numRuns: 50_000 },
    );
    assert.ok(plain > 1_000, `${plain} plain URLs are too few to prove anything`);
  });

  const label = 'a'.repeat(63);
  const name = `${`${label}.`.repeat(3)}${'a'.repeat(61)}`;
  const cases: [text: string, isPlain: boolean][] = [
    ['http://192.0.2.1/', true],
    ['http://192.0.2.1:65535/bins/sora.x86', true],
    ['https://cdn-1.example/a/../b?x=1&y=?/~', true],
    ['ftp://a/', true],
    [`http://${name}/`, true],
    [`http://${name}a/`, false],
    [`http://${label}a.example/`, false],
    [`http://a.example/${'a'.repeat(URL_MAX_LENGTH - 17)}`, true],
    [`http://a.example/${'a'.repeat(URL_MAX_LENGTH - 16)}`, false],
    ['http://192.0.2.256/', false],
    ['http://192.0.2.01/', false],
    ['http://192.0.2.1', false],
    ['http://1.2.3/', false],
    ['http://a.0x7f/', false],
    ['http://A.example/', false],
    ['http://a.example./', false],
    ['http://a..example/', false],
    ['http://u@a.example/', false],
    ['http://a.example:80/', false],
    ['https://a.example:443/', false],
    ['http://a.example:65536/', false],
    ['http://a.example:080/', false],
    ['http://a.example/#', false],
    ['http://a.example/%41', false],
    ['http://a.example/\n', false],
    [' http://a.example/', false],
    ['gopher://a.example/', false],
    [`http://a.example/${'a'.repeat(URL_MAX_LENGTH)}`, false],
  ];
  for (const [text, isPlain] of cases) {
    it(`${isPlain}: ${text.slice(0, 60)}`, () => {
      assert.equal(isPlainUrl(text), isPlain);
      if (isPlain) assert.ok(isOwnNormalForm(text));
    });
  }

  it('takes less than 20 ms of CPU time for hostile texts', () => {
    for (const unit of ['a.', 'a', '-.', '1.', '/', '?', '0']) {
      const start = cpuTimeMs();
      isPlainUrl(`http://${unit.repeat(URL_MAX_LENGTH)}`.slice(0, URL_MAX_LENGTH));
      isPlainUrl(`http://a.example/${unit.repeat(URL_MAX_LENGTH)}`.slice(0, URL_MAX_LENGTH - 1).concat(' '));
      assert.ok(cpuTimeMs() - start < 20, unit);
    }
  });
});
