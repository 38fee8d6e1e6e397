import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startBackground } from '../../src/app/background.ts';
import { DEFAULT_SETTINGS } from '../../src/config/settings.ts';
import { createTotals } from '../../src/portal/totals.ts';
import { temporaryControl, temporaryIntelligence } from '../engine.ts';
import { until } from '../until.ts';

const fail = (problem: unknown) => assert.fail(String(problem));

async function start(t: TestContext) {
  const [store, control] = [await temporaryIntelligence(t), await temporaryControl(t)];
  const now = () => 1_794_800_000;
  let counts = 0;
  const totals = {
    ...createTotals({ store, now, changes: async () => '', onFailure: fail }),
    start() {
      counts++;
    },
  };
  const background = startBackground({
    settings: DEFAULT_SETTINGS,
    store,
    control,
    redis: null,
    totals,
    now,
    metrics: undefined,
    node: { node: 'a', name: 'host:8080', version: '1' },
    outages: { report: () => false, isDamaged: () => false, update: () => {} },
    log: { error: fail, warn: fail },
    onFailure: () => fail,
    onFaults: fail,
  });
  const nodes = async () => (await control.nodes()).map(({ node }) => node);
  return { ...background, nodes, counts: () => counts };
}

test('work in the background begins a moment after the start, and ends with the server', async (t) => {
  const { close, counts, nodes } = await start(t);
  assert.equal(counts(), 0);
  await until(async () => (await nodes()).length === 1, 'the server is announced');
  assert.equal(counts(), 1);
  await close();
  assert.deepEqual(await nodes(), []);
});

test('a server that is closed before that starts no work', async (t) => {
  const { close, counts, nodes } = await start(t);
  await close();
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.deepEqual([counts(), await nodes()], [0, []]);
});
