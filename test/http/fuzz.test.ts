import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runFuzz } from '../../tools/fuzz/run.ts';

/** Two of three are about addresses and domains. */
const COUNT = 10_000;

test('ten thousand malformed requests get well-formed responses', async () => {
  const { done, byStatus, failure } = await runFuzz({ seed: 1, count: COUNT });
  assert.equal(failure, null);
  assert.equal(done, COUNT);
  for (const status of [200, 204, 304, 400, 404, 405, 408, 413, 417, 431]) {
    assert.ok((byStatus.get(status) ?? 0) > 0, `no response was ${status}`);
  }
  assert.equal(byStatus.get(503), undefined);
});
