import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';

test('a refusal has no stack trace; an error that is logged has one, and so do other errors', () => {
  assert.equal(new AppError('not_found', 'x').stack?.includes('\n'), false);
  assert.match(new AppError('unavailable', 'x').stack ?? '', /errors\.test/);
  assert.match(new Error('x').stack ?? '', /errors\.test/);
});

test('an error has the given values', () => {
  const options = { retryAfterSeconds: 5, challenge: 'Bearer', limit: 'qmh', cause: new Error('x') };
  const { name, code, message, retryAfterSeconds, challenge, limit, cause } = new AppError('forbidden', 'no', options);
  assert.deepEqual([name, code, message], ['AppError', 'forbidden', 'no']);
  assert.deepEqual({ retryAfterSeconds, challenge, limit, cause }, options);
});
