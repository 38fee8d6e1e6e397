import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { explainUrl } from '../../../src/core/url/explain.ts';
import { normalizeUrl } from '../../../src/core/url/normalize.ts';
import { anyUrlText } from './url-texts.ts';

const cases: { input: string; rules: string[] }[] = [
  { input: 'http://example.com/', rules: [] },
  { input: ' http://example.com/', rules: ['N3'] },
  { input: 'HTTP://example.com/', rules: ['N4'] },
  { input: 'http://u@example.com/', rules: ['N6'] },
  { input: 'http://Example.com/', rules: ['N7'] },
  { input: 'http://%65xample.com/', rules: ['N7'] },
  { input: 'http://é.example/', rules: ['N7'] },
  { input: 'http://ÉÉ.example/', rules: ['N7'] },
  { input: 'http://%C3%89.example/', rules: ['N7', 'N7'] },
  { input: 'http://example.com./', rules: ['N8'] },
  { input: 'http://127.1/', rules: ['N9'] },
  { input: 'http://0X7F.1./', rules: ['N7', 'N8', 'N9'] },
  { input: 'http://[2001:DB8::1]/', rules: ['N10'] },
  { input: 'http://[::1]/', rules: [] },
  { input: 'http://example.com:/', rules: ['N11'] },
  { input: 'http://example.com:80/', rules: ['N11'] },
  { input: 'http://example.com:08080/', rules: ['N11'] },
  { input: 'http://example.com', rules: ['N12'] },
  { input: 'http://example.com/a b', rules: ['N12'] },
  { input: 'http://example.com/?%7e', rules: ['N13'] },
  { input: 'http://example.com/#x', rules: ['N14'] },
  { input: '\tHTTP://u@Example.com.:80?%7e#x', rules: ['N3', 'N4', 'N6', 'N7', 'N8', 'N11', 'N12', 'N13', 'N14'] },
];

describe('explainUrl', () => {
  for (const { input, rules } of cases) {
    it(`${JSON.stringify(input)}: ${rules.join(', ') || 'no changes'}`, () => {
      const normal = normalizeUrl(input);
      assert.ok(normal.ok);
      const changes = explainUrl(input, normal);
      assert.deepEqual(
        changes.map((change) => change.rule),
        rules,
      );
    });
  }

  for (const [input, text] of [
    ['http://EXAMPLE.com/', 'host written in lower case'],
    ['http://é.example/', 'international host name written in ASCII'],
    ['http://ＡＢＣ.example/', 'international host name written in ASCII'],
    ['http://example.com:/', 'empty port removed'],
    ['https://example.com:443/', 'default port of https removed'],
    ['http://example.com:08080/', 'leading zeros of the port removed'],
  ] as const) {
    it(`explains ${input}: ${text}`, () => {
      const normal = normalizeUrl(input);
      assert.ok(normal.ok);
      assert.deepEqual(
        explainUrl(input, normal).map((change) => change.text),
        [text],
      );
    });
  }

  it('lists changes if and only if the URL changed', () => {
    fc.assert(
      fc.property(anyUrlText, (text) => {
        const normal = normalizeUrl(text);
        if (normal.ok) assert.equal(explainUrl(text, normal).length > 0, normal.url !== text);
      }),
      { numRuns: 10_000 },
    );
  });
});
