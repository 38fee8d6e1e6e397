import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Control } from '../../src/app/stores.ts';
import { startUsageCleanup } from '../../src/app/usage-cleanup.ts';
import { windowIndex } from '../../src/core/quota.ts';
import { createCounterDeletion } from '../../src/limits/counters-redis.ts';
import { redisCounters } from '../limits/process-counters.ts';
import { temporaryLink } from '../limits/temporary-redis-counters.ts';
import { postgresControl } from '../postgres-control.ts';
import { temporaryControl } from '../temporary-control.ts';
import { ADA } from './control-records.ts';

const DAY = 86_400;
/** 16 November 2026. */
const NOW = 1_794_800_000;

type Options = Parameters<typeof startUsageCleanup>[0];

function cleanup(t: TestContext, control: Options['control'], options: Partial<Options> = {}) {
  const failures: unknown[] = [];
  const started = startUsageCleanup({
    control,
    usageMonths: 24,
    deleteCounters: null,
    now: () => NOW,
    every: () => () => {},
    onFailure: (error) => failures.push(error),
    ...options,
  });
  t.after(started.close);
  return { ...started, failures };
}

const count = (control: Control, ts: number) =>
  control.addUsage([{ sub: ADA.sub, day: windowIndex('day', ts), month: windowIndex('month', ts), count: 3 }]);

const counted = async (control: Control, ts: number) =>
  (await control.usage(ADA.sub, windowIndex('day', ts), windowIndex('month', ts))).month;

for (const [engine, open] of [
  ['SQLite', temporaryControl],
  ['PostgreSQL', postgresControl],
] as const) {
  test(`the current month and the 24 before it are kept on ${engine}, and one of two servers works a day`, async (t) => {
    const control = await open(t);
    const [deleted, kept] = [Date.UTC(2024, 9, 31), Date.UTC(2024, 10, 1)].map((ms) => ms / 1000) as [number, number];
    let nowTs = NOW;
    const servers = [1, 2].map(() => cleanup(t, control, { now: () => nowTs }));
    for (const ts of [deleted, kept, NOW]) await count(control, ts);
    await servers[0]?.runDue();
    assert.deepEqual([await counted(control, deleted), await counted(control, kept)], [0, 3]);
    await count(control, deleted);
    for (const server of servers) await server.runDue();
    assert.equal(await counted(control, deleted), 3, 'not again on this day');
    nowTs += DAY;
    await servers[1]?.runDue();
    assert.deepEqual([await counted(control, deleted), await counted(control, NOW)], [0, 3]);
    assert.deepEqual(
      servers.flatMap(({ failures }) => failures),
      [],
    );
  });
}

test('counters in Redis that a server wrote after the removal are deleted', async (t) => {
  const control = await temporaryControl(t);
  const link = await temporaryLink(t);
  const counters = redisCounters(link, control, { whenDown: 'refuse' });
  t.after(() => counters.close());
  await control.addAccount(ADA);
  await control.removeAccount(ADA.sub, NOW - 5);
  await counters.take(ADA.sub, [], 1);
  await counters.takeCall(ADA.sub, 1);
  const exists = link.script<number>(`return redis.call('EXISTS', KEYS[1])`);
  const keys = () => Promise.all(['queries', 'calls'].map((name) => exists(link.key(ADA.sub, name))));
  assert.deepEqual(await keys(), [1, 1]);
  const { runDue, failures } = cleanup(t, control, { deleteCounters: createCounterDeletion(link) });
  await runDue();
  assert.deepEqual([await keys(), failures], [[0, 0], []]);
});

test('a removed account is forgotten after its keys in Redis have expired', async (t) => {
  const control = await temporaryControl(t);
  await control.addAccount(ADA);
  await control.removeAccount(ADA.sub, NOW);
  let nowTs = NOW + 32 * DAY;
  const asked: string[] = [];
  const { runDue } = cleanup(t, control, { now: () => nowTs, deleteCounters: async (sub) => asked.push(sub) > 0 });
  await runDue();
  assert.deepEqual([asked, (await control.removedAccounts()).length], [[ADA.sub], 1]);
  nowTs += 2 * DAY;
  await runDue();
  assert.deepEqual([asked.length, await control.removedAccounts()], [1, []]);
});

test('a failure is reported, and the next day works', async (t) => {
  const control = await temporaryControl(t);
  await count(control, 0);
  let isAway = true;
  let nowTs = NOW;
  const away = {
    ...control,
    deleteOldUsage: async (...args: Parameters<Control['deleteOldUsage']>) => {
      if (isAway) throw new Error('away');
      return control.deleteOldUsage(...args);
    },
  };
  const { runDue, failures } = cleanup(t, away, { now: () => nowTs });
  await runDue();
  assert.deepEqual(failures.map(String), ['Error: away']);
  isAway = false;
  nowTs += DAY;
  await runDue();
  assert.deepEqual([failures.length, await counted(control, 0)], [1, 0]);
});
