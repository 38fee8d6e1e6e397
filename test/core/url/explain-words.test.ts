import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { explainUrl } from '../../../src/core/url/explain.ts';
import { normalizeUrl } from '../../../src/core/url/normalize.ts';
import { anyUrlText } from './url-texts.ts';

const VECTORS: [input: string, steps: string[]][] = [
  ['http://example.com/a?b=%2F', []],
  ['not a URL', []],
  ['HTTP://example.com/', ['scheme written in lower case']],
  ['http://u:p@example.com:80/#x', ['credentials removed', 'default port of http removed', 'fragment removed']],
  ['http://example.com/?a b', ['characters not allowed in a query escaped']],
  ['http://example.com/?%7e', ['escapes in the query normalized']],
  ['http://example.com/?%%37', ['characters not allowed in a query escaped', 'escapes in the query normalized']],
  ['http://example.com/?', []],
  [`http://example.com/${'a'.repeat(8_000)}#`, ['fragment removed']],
];

function stepsOf(input: string): string[] {
  const normal = normalizeUrl(input);
  return normal.ok ? explainUrl(input, normal).map(({ text }) => text) : [];
}

describe('the changes of normalization in words', () => {
  for (const [input, steps] of VECTORS) {
    test(`${input.slice(0, 40)}: ${steps.join(', ') || 'nothing'}`, () => assert.deepEqual(stepsOf(input), steps));
  }

  test('is empty if and only if the URL is unchanged', () => {
    fc.assert(
      fc.property(anyUrlText, (text) => {
        const normal = normalizeUrl(text);
        assert.equal(stepsOf(text).length === 0, !normal.ok || normal.url === text);
      }),
      { numRuns: 5_000 },
    );
  });
});
