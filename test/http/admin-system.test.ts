import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { windowIndex } from '../../src/core/quota.ts';
import { asAdmin } from './as-admin.ts';
import { assertError, DAY, NOW } from './build.ts';
import { authorized, LIMITS, USERNAME } from './with-accounts.ts';

test('tiers are listed, set and removed', async (t) => {
  const { change, read, post, audit } = await asAdmin(t);
  const gold = await change('/tiers', { name: 'gold', qms: 10, qmh: 3000, ads: ['URL'], rl_qps: 9 });
  assert.deepEqual(gold, {
    name: 'gold',
    built_in: false,
    trs: 'base',
    ads: ['URL'],
    qms: 10,
    qmh: 3000,
    rl_qps: 9,
    rl_qpm: 100,
    rl_qph: 400,
    accounts: 0,
  });
  const again = await change('/tiers', { name: 'gold', qms: 20, qmh: 3000, ads: ['url', 'Domain'], rl_qps: 9 });
  assert.deepEqual(again.ads, ['URL', 'DOMAIN']);
  await change(`/accounts/${USERNAME}`, { tier: 'gold' });
  const { items } = await read('/tiers');
  assert.deepEqual(
    items.map(({ name, built_in, accounts }: Record<string, unknown>) => [name, built_in, accounts]),
    [
      ['developer', true, 0],
      ['standard', true, 0],
      ['enterprise', true, 0],
      ['operator', true, 0],
      ['gold', false, 1],
      ['tested', false, 0],
    ],
  );
  const refusals: [path: string, payload: object, status: number, message: RegExp][] = [
    ['/tiers/gold/remove', {}, 400, /in use by "ada@example.com"/],
    ['/tiers/nope/remove', {}, 404, /no tier/],
    ['/tiers/standard/remove', {}, 400, /built in/],
    ['/tiers', { name: 'Standard', qms: 1, qmh: 1 }, 400, /built in/],
    ['/tiers', { name: 'a b', qms: 1, qmh: 1 }, 400, /not a valid tier name/],
    ['/tiers', { name: 'x', qms: 1 }, 400, /"qmh" is missing/],
    ['/tiers', { name: 'x', qms: -1, qmh: 1 }, 400, /"qms"/],
    ['/tiers', { name: 'x', qms: 1.5, qmh: 1 }, 400, /"qms" must be an integer/],
    ['/tiers', { name: 'x', qms: 1, qmh: 2_147_483_648 }, 400, /"qmh"/],
    ['/tiers', { name: 'x', qms: 1, qmh: 1, rl_qps: 0 }, 400, /"rl_qps"/],
    ['/tiers', { name: 'x', qms: 1, qmh: 1, ads: ['url', 'foo'] }, 400, /"ads" must be some of URL, XBL, .*DOMAIN\./],
    ['/tiers', { name: 'x', qms: 1, qmh: 1, trs: '' }, 400, /"trs" must be one word/],
  ];
  for (const [path, payload, status, message] of refusals) assertError(await post(path, payload), status, message);
  await change(`/accounts/${USERNAME}`, { tier: 'tested' });
  await change('/tiers/gold/remove');
  const entries = (await audit(20)).filter(({ action }) => action.startsWith('tier.'));
  assert.deepEqual(
    entries.map(({ action, subject, changes }) => [action, subject, changes.qms]),
    [
      ['tier.set', 'gold', { old: null, new: 10 }],
      ['tier.set', 'gold', { old: 10, new: 20 }],
      ['tier.remove', 'gold', { old: 20, new: null }],
    ],
  );
});

test('keys are rotated; with `now` all tokens become invalid', async (t) => {
  const { app, read, change, audit, refresh, logIn } = await asAdmin(t);
  const [first] = (await read('/keys')).items;
  assert.deepEqual([first.created_ts, first.signs], [NOW, true]);
  const token = await logIn();
  const rotated = await change('/keys/rotate');
  assert.equal(rotated.from_file, false);
  assert.deepEqual(
    rotated.items.map(({ kid, signs }: Record<string, unknown>) => [kid === first.kid, signs]),
    [
      [false, true],
      [true, false],
    ],
  );
  await refresh();
  assert.equal((await app.inject(authorized(LIMITS, token))).statusCode, 200);
  const { items } = await change('/keys/rotate', { now: true });
  assert.equal(items.length, 1);
  await refresh();
  assertError(await app.inject(authorized(LIMITS, token)), 401);
  const [, last] = await audit(2);
  assert.deepEqual([last?.action, last?.subject], ['key.rotate', items[0].kid]);
  assert.deepEqual(last?.changes.keys?.new, [items[0].kid]);
});

test('keys of a file are listed without times, and not rotated', async (t) => {
  const { read, post, control } = await asAdmin(t, { services: { admin: { hasKeyFile: true } } });
  const { from_file, items } = await read('/keys');
  assert.deepEqual([from_file, items.length, items[0].created_ts], [true, 1, null]);
  assertError(await post('/keys/rotate'), 400, /signing-key-file/);
  assert.equal((await control.keys()).length, 1);
});

test('the audit log is filtered', async (t) => {
  const { control, read, get } = await asAdmin(t);
  const actor = { source: 'cli', name: 'root', origin: 'host1' } as const;
  const add = (ts: number, action: 'account.set' | 'tier.set', subject: string) =>
    control.addAudit({ ts, actor, action, subject, changes: { tier: { old: 'a', new: ['b', '<b>'] } } });
  await add(NOW - 30, 'account.set', 'ada');
  await add(NOW - 20, 'tier.set', 'gold');
  await add(NOW - 10, 'account.set', 'bob');
  const subjects = async (query: string) =>
    (await read(`/audit${query}`)).items.map(({ subject }: { subject: string }) => subject);
  assert.deepEqual(await subjects(''), ['bob', 'gold', 'ada']);
  assert.deepEqual(await subjects('?limit=1'), ['bob']);
  assert.deepEqual(await subjects('?action=account'), ['bob', 'ada']);
  assert.deepEqual(await subjects('?action=tier.set'), ['gold']);
  assert.deepEqual(await subjects('?subject=ada'), ['ada']);
  assert.deepEqual(await subjects(`?since=${NOW - 20}&until=${NOW - 20}`), ['gold']);
  const [{ id, ...entry }] = (await read('/audit?subject=gold')).items;
  assert.equal(typeof id, 'number');
  assert.deepEqual(entry, {
    ts: NOW - 20,
    source: 'cli',
    actor: 'root',
    origin: 'host1',
    action: 'tier.set',
    subject: 'gold',
    changes: { tier: { old: 'a', new: ['b', '<b>'] } },
  });
  for (const query of [
    'action=nope',
    'limit=0',
    'limit=1001',
    'since=2&until=1',
    'subject=a&subject=b',
    'subject=%00',
  ]) {
    assertError(await get(`/audit?${query}`), 400);
  }
});

test('the audit log is read in pages', async (t) => {
  const { control, read } = await asAdmin(t);
  const actor = { source: 'cli', name: 'root', origin: 'host1' } as const;
  for (let i = 0; i < 1010; i++) {
    const subject = i % 505 === 0 ? 'rare' : 'frequent';
    await control.addAudit({ ts: NOW - (i % 3), actor, action: 'tier.set', subject, changes: {} });
  }
  const ids = (await read('/audit?limit=1000')).items.map(({ id }: { id: number }) => id);
  assert.equal(new Set(ids).size, 1000);
  assert.equal((await read('/audit?subject=rare')).items.length, 2);
});

test('the usage of a month', async (t) => {
  const { control, sub, read, get } = await asAdmin(t);
  const month = windowIndex('month', NOW - DAY);
  await control.addUsage([{ sub, day: windowIndex('day', NOW - DAY), month, count: 5 }]);
  const report = await read('/usage');
  assert.deepEqual([report.month, report.complete, report.queries], ['2025-12', true, 5]);
  assert.deepEqual(report.accounts, [
    {
      sub,
      username: USERNAME,
      tier: 'tested',
      removed_ts: null,
      queries: 5,
      qms: 1_000_000,
      qmh: 1_000_000,
      soft_limit_passed: false,
      hard_limit_reached: false,
      days: [{ day: '2025-12-31', queries: 5 }],
    },
  ]);
  assert.deepEqual((await read('/usage?month=2026-01')).accounts, []);
  assertError(await get('/usage?month=2026-13'), 400, /like 2026-10/);
  assertError(await get('/usage?month=2026-02'), 400, /in the future/);
});

test('health has the state of the store and of Redis, and all nodes', async (t) => {
  const { control, read } = await asAdmin(t);
  const seen = { version: '1.0.0', startedTs: NOW - 60, seenTs: NOW };
  await control.seeNode({ node: 'old', name: 'host0:8080', ...seen, seenTs: NOW - 2 * DAY }, 0);
  await control.seeNode({ node: 'other', name: 'host2:8080', ...seen }, NOW - DAY);
  await control.seeNode({ node: 'this-node', name: 'host1:8080', ...seen }, NOW - DAY);
  const { store, redis, nodes, tables } = await read('/health');
  assert.deepEqual([store.engine, store.place, store.ready, store.problem], ['sqlite', 'data', true, null]);
  assert.deepEqual(redis, { used: false, up: null, limits: 'local' });
  assert.deepEqual(tables, { networks: false });
  const times = { version: '1.0.0', started_ts: NOW - 60, seen_ts: NOW };
  assert.deepEqual(nodes, [
    { node: 'this-node', name: 'host1:8080', ...times, current: true },
    { node: 'other', name: 'host2:8080', ...times, current: false },
  ]);
  await control.removeNode('other');
  assert.equal((await read('/health')).nodes.length, 1);
});

test('health says why the store is not ready', async (t) => {
  const system = {
    ...({ engine: 'postgres', place: 'PostgreSQL db.example/x', node: 'a', hasNetworkTable: true } as const),
    hasFaults: () => true,
    isRedisUp: () => false,
    limitsState: () => 'refused' as const,
    sizeBytes: () => 5,
    freeBytes: () => null,
    ready: () => Promise.reject(new AppError('not_ready', 'The disk is full')),
  };
  const { read } = await asAdmin(t, { services: { admin: { system } } });
  const { store, redis, tables } = await read('/health');
  assert.deepEqual(store, {
    engine: 'postgres',
    place: 'PostgreSQL db.example/x',
    ready: false,
    problem: 'The disk is full',
    size_bytes: 5,
    free_bytes: null,
    faults: true,
  });
  assert.deepEqual(redis, { used: true, up: false, limits: 'refused' });
  assert.deepEqual(tables, { networks: true });
});
