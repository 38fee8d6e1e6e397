import assert from 'node:assert/strict';
import { test } from 'node:test';
import { announceNode } from '../../src/app/nodes.ts';
import { temporaryControl } from '../engine.ts';

const NOW = 1_767_225_600;

test('a server is seen while it runs; others are forgotten after a day; a stop removes it', async (t) => {
  const control = await temporaryControl(t);
  const killed = { node: 'killed', name: 'host0:8080', version: '1', startedTs: NOW, seenTs: NOW };
  await control.seeNode(killed, 0);
  let now = NOW + 86_400;
  let tick = () => {};
  const { announced, close } = announceNode({
    control,
    node: { node: 'a', name: 'host1:8080', version: '2' },
    now: () => now,
    every(ms, work) {
      assert.equal(ms, 20_000);
      tick = work;
      return () => {
        tick = () => assert.fail('closed');
      };
    },
    onFailure: assert.fail,
  });
  await announced;
  const started = { node: 'a', name: 'host1:8080', version: '2', startedTs: now };
  assert.deepEqual(await control.nodes(), [killed, { ...started, seenTs: now }]);
  now += 20;
  tick();
  await close();
  assert.deepEqual(await control.nodes(), [], 'the write in progress does not add it again');
});

test('a stop does not wait for a database that hangs', async () => {
  const hang = () => new Promise<never>(() => {});
  const { close } = announceNode({
    control: { seeNode: hang, removeNode: hang },
    node: { node: 'a', name: 'h:1', version: '2' },
    now: () => NOW,
    every: () => () => {},
    onFailure: assert.fail,
  });
  const startedMs = performance.now();
  const timer = setTimeout(() => {}, 5_000); // the waits of a stop do not keep the process running
  await close();
  clearTimeout(timer);
  assert.ok(performance.now() - startedMs < 3_000);
});
