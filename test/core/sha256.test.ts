import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { sha256OfAscii } from '../../src/core/sha256.ts';

const TEXT = Array.from({ length: 300 }, (_, i) => String.fromCharCode((i * 7) % 128)).join('');

test('SHA-256 of every length around the ends of blocks', () => {
  for (let length = 0; length <= TEXT.length; length++) {
    const text = TEXT.slice(0, length);
    assert.equal(sha256OfAscii(text, 32)?.toString('hex'), hash('sha256', text), `${length} characters`);
  }
});

test('SHA-256 of any ASCII text, and none of any other', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii', maxLength: 3000 }), fc.string({ unit: 'binary' }), (text, other) => {
      assert.equal(sha256OfAscii(text, 16)?.toString('hex'), hash('sha256', text).slice(0, 32));
      const isAscii = Buffer.byteLength(other) === other.length;
      assert.equal(sha256OfAscii(other, 32)?.toString('hex'), isAscii ? hash('sha256', other) : undefined);
    }),
    { numRuns: 500 },
  );
});
