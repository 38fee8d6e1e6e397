import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, LIMIT_REACHED, noteLimit, tightestLimit } from '../../portal/api.ts';
import { withRetry } from '../../portal/load.ts';

/** How often it is asked. */
async function triesAfter(error: ApiError, abort = new AbortController()): Promise<number> {
  let tries = 0;
  const load = async () => {
    tries++;
    throw error;
  };
  await assert.rejects(withRetry(load, abort.signal), (thrown) => thrown === error || abort.signal.aborted);
  return tries;
}

test('a limit that has room again at once is tried once more', async () => {
  assert.equal(await triesAfter(new ApiError(LIMIT_REACHED, 'The limit rl_qps is reached', 0)), 2);
  assert.equal(await triesAfter(new ApiError(LIMIT_REACHED, 'The limit rl_qpm is reached', 3)), 1);
  assert.equal(await triesAfter(new ApiError(LIMIT_REACHED, 'The limit streams is reached')), 1);
  assert.equal(await triesAfter(new ApiError(503, 'Later', 0)), 1);
  const gone = new AbortController();
  gone.abort();
  assert.equal(await triesAfter(new ApiError(LIMIT_REACHED, 'The limit rl_qps is reached', 0), gone), 1);
  assert.equal(await withRetry(async () => 7, new AbortController().signal), 7);
});

test('the header shows no limit of one second', () => {
  noteLimit('"rl_qpm";r=7;t=30');
  noteLimit('"rl_qps";r=4;t=1');
  noteLimit('"calls";r=4;t=1');
  assert.deepEqual(tightestLimit.value, { name: 'rl_qpm', left: 7, resetsInSeconds: 30 });
  noteLimit('"rl_qpm";r=6;t=0');
  noteLimit('"rl_qps";r=4;t=1');
  assert.equal(tightestLimit.value, null, 'its minute is over');
});
