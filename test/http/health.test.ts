import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { assertError, build, stubStore } from './build.ts';

test('a server on a good store is up and ready', async (t) => {
  const { app } = await build(t);
  for (const url of ['/healthz', '/readyz']) {
    const answer = await app.inject(url);
    assert.deepEqual([answer.statusCode, answer.json()], [200, { status: 'ok' }]);
  }
});

const UNREADY = [
  async () => {
    throw new Error('gone');
  },
  async () => {
    throw new AppError('unavailable', 'gone', { retryAfterSeconds: 7 });
  },
  () => new Promise<void>(() => {}),
];
test('it is up but not ready while the store cannot answer', async (t) => {
  for (const ready of UNREADY) {
    const { app } = await build(t, { services: { store: stubStore({ ready }) }, options: { queryBudgetMs: 5 } });
    const answer = await app.inject('/readyz');
    assertError(answer, 503);
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    assert.equal((await app.inject('/healthz')).statusCode, 200);
  }
});
