import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRedisCounters } from '../../src/limits/counters-redis.ts';
import { openControl } from '../../src/store/open.ts';
import { type Sentinels, startSentinels } from '../servers/redis-sentinel.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { countersContract, countersOver } from './contract/index.ts';
import { temporaryLink } from './temporary-redis-counters.ts';

const SUB = '10000001';
const T = 1_794_700_000;

let servers: Sentinels;
before(async () => {
  servers = await startSentinels();
});
after(() => servers.stop());

countersContract(
  countersOver(async (t, control, nowMs) =>
    createRedisCounters(await temporaryLink(t, { url: servers.url }), control, { whenDown: 'refuse', nowMs }),
  ),
);

test('the primary is killed: the replica takes over by itself, and counts go on', async (t) => {
  const control = await openControl({ dataDir: temporaryFolder(t) });
  const link = await temporaryLink(t, { url: servers.url, probeMs: 20 });
  const told: string[] = [];
  link.watch({ onDown: () => told.push('down'), onUp: () => told.push('up') });
  const counters = createRedisCounters(link, control, { whenDown: 'local', nowMs: () => T * 1000 });
  t.after(async () => {
    await counters.close();
    await control.close();
  });
  await counters.take(SUB, [], 10);
  await servers.primary.stop('SIGKILL');
  assert.equal((await counters.take(SUB, [], 5)).counts.month, 15);
  while (!link.isUp()) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal((await counters.take(SUB, [], 1)).counts.month, 16);
  assert.deepEqual(told, ['down', 'up']);
});
