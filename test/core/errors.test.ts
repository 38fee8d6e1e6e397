import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';

test('a refusal carries no stack, what is logged does, and other errors are not touched', () => {
  assert.equal(new AppError('not_found', 'x').stack?.includes('\n'), false);
  assert.match(new AppError('unavailable', 'x').stack ?? '', /errors\.test/);
  assert.match(new Error('x').stack ?? '', /errors\.test/);
});
