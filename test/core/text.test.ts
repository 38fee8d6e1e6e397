import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { foldFamily } from '../../src/core/text.ts';

it('folding a family ignores the case of ASCII letters and is idempotent', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ -~]{1,128}$/), (name) => {
      assert.equal(foldFamily(name.toUpperCase()), foldFamily(name));
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      assert.equal(foldFamily(foldFamily(name)), foldFamily(name));
    }),
  );
});
