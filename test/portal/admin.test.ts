import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  derivedRates,
  filterAccounts,
  nearLimit,
  newPassword,
  readCount,
  requireTyped,
  usedShare,
} from '../../portal/admin.ts';
import {
  actionOptions,
  actionText,
  auditApi,
  auditPath,
  changeTexts,
  readAuditFilter,
} from '../../portal/audit-log.ts';
import { healthLines } from '../../portal/health.ts';
import type { AccountItem, HealthResponse } from '../../src/admin/wire.ts';
import { AUDIT_ACTIONS } from '../../src/audit/entry.ts';

const NO_LIMIT = 2_147_483_647;

function account(username: string, used: number, hard: number | null, enabled = true): AccountItem {
  const base = { sub: username, tier: 'standard', admin: false, created_ts: 0, queries_day: 0, soft: hard };
  return { ...base, username, enabled, queries_month: used, hard };
}

test('accounts near their limit: the fullest first, without disabled and unlimited ones', () => {
  const all = [
    account('half', 50, 100),
    account('near', 80, 100),
    account('over', 130, 100),
    account('off', 100, 100, false),
    account('free', 9_999, NO_LIMIT),
    account('gone', 9_999, null),
    account('nothing', 0, 0),
  ];
  assert.deepEqual(
    nearLimit(all).map(({ username }) => username),
    ['over', 'nothing', 'near'],
  );
  assert.equal(usedShare(account('free', 1, NO_LIMIT)), null);
});

test('accounts are filtered by the address of the page', () => {
  const all = [
    account('Ada@example.com', 90, 100),
    { ...account('bob@example.com', 0, 100, false), tier: 'developer', sub: '4711' },
    { ...account('x\u202ey', 0, 100), admin: true },
  ];
  const cases: [query: string, found: string[]][] = [
    ['', ['Ada@example.com', 'bob@example.com', 'x\u202ey']],
    ['find=ADA', ['Ada@example.com']],
    ['find=+example+', ['Ada@example.com', 'bob@example.com']],
    ['find=%5Cu202e', ['x\u202ey']],
    ['find=%E2%80%AE', ['x\u202ey']],
    ['find=4711', ['bob@example.com']],
    ['find=471', []],
    ['tier=developer', ['bob@example.com']],
    ['tier=developer&find=ada', []],
    ['state=disabled', ['bob@example.com']],
    ['state=enabled', ['Ada@example.com', 'x\u202ey']],
    ['state=admin', ['x\u202ey']],
    ['state=near', ['Ada@example.com']],
    ['state=nothing', ['Ada@example.com', 'bob@example.com', 'x\u202ey']],
    ['state=constructor', ['Ada@example.com', 'bob@example.com', 'x\u202ey']],
  ];
  for (const [query, found] of cases) {
    const names = filterAccounts(all, new URLSearchParams(query)).map(({ username }) => username);
    assert.deepEqual(names, found, query);
  }
});

test('numbers of a form', () => {
  assert.equal(readCount('150,000', 'Hard limit', null), 150_000);
  assert.equal(readCount(' 12 ', 'Hard limit', null), 12);
  assert.equal(readCount('', 'Hard limit', 7), 7);
  assert.equal(readCount(undefined, 'Hard limit', null), null);
  for (const text of ['-1', '1.5', 'many', '2147483648', '99999999999']) {
    assert.throws(() => readCount(text, 'Hard limit', null), /^Error: Hard limit: write a whole number/, text);
  }
});

test('rates follow from the hard limit as on the server', () => {
  assert.deepEqual(derivedRates(5_000), { rl_qph: 664, rl_qpm: 166, rl_qps: 21 });
});

test('a removal is confirmed by the name, as it is or as it is shown', () => {
  requireTyped('a\u202eb', 'a\u202eb');
  requireTyped('a\\u202eb', 'a\u202eb');
  assert.throws(() => requireTyped('ab', 'a\u202eb'), /Type a\\u202eb to confirm/);
  assert.throws(() => requireTyped(undefined, 'ada'), /Type ada/);
});

test('a generated password has 24 letters of the alphabet of URLs', () => {
  const passwords = new Set(Array.from({ length: 50 }, newPassword));
  assert.equal(passwords.size, 50);
  for (const password of passwords) assert.match(password, /^[\w-]{24}$/);
});

test('every action has words, and can be chosen', () => {
  for (const action of AUDIT_ACTIONS) assert.doesNotMatch(actionText(action), /\./);
  assert.equal(actionText('a.newer\u202eone'), 'a.newer\\u202eone');
  const values = actionOptions().map(({ value }) => value);
  assert.deepEqual(
    AUDIT_ACTIONS.filter((action) => !values.includes(action)),
    [],
  );
  assert.equal(new Set(values).size, values.length);
});

test('changes as texts', () => {
  const changes = {
    tier: { old: 'developer', new: 'a\u202eb' },
    enabled: { old: true, new: false },
    qmh: { old: null, new: NO_LIMIT },
    interval_seconds: { old: 5_400, new: 86_400 },
    until_ts: { old: null, new: 1_794_979_800 },
    removed_until: { old: 1_794_979_800, new: null },
    ads: { old: ['URL', 'XBL'], new: null },
  };
  assert.deepEqual(changeTexts(changes), [
    { field: 'tier', old: 'developer', new: 'a\\u202eb' },
    { field: 'enabled', old: 'yes', new: 'no' },
    { field: 'hard limit', old: null, new: 'no limit' },
    { field: 'interval', old: '90 minutes', new: '1 day' },
    { field: 'ends', old: null, new: '2026-11-18 05:30' },
    { field: 'can be listed again', old: '2026-11-18 05:30', new: null },
    { field: 'datasets', old: 'URL, XBL', new: null },
  ]);
});

test('the filter of the audit log: address and query', () => {
  const filter = readAuditFilter(new URLSearchParams('action=account&subject=a%26b&from=2026-11-01&until=2026-11-01'));
  assert.equal(auditPath(filter), '/admin/audit?action=account&subject=a%26b&from=2026-11-01&until=2026-11-01');
  assert.equal(
    auditApi(filter),
    '/api/admin/v1/audit?limit=1000&action=account&subject=a%26b&since=1793491200&until=1793577599',
  );
  for (const odd of ['from=yesterday&until=2026-99-99', 'from=2026-02-30&until=2026-11-1', 'from=1969-01-01']) {
    assert.equal(auditApi(readAuditFilter(new URLSearchParams(odd))), '/api/admin/v1/audit?limit=1000', odd);
  }
  assert.equal(auditPath(readAuditFilter(new URLSearchParams())), '/admin/audit');
});

const NOW = 1_800_000_000;
const node = { node: 'a', name: 'first', version: '1.0.0', started_ts: NOW - 900, seen_ts: NOW - 10, current: true };
const HEALTHY: HealthResponse = {
  store: {
    engine: 'sqlite',
    place: 'data',
    ready: true,
    problem: null,
    size_bytes: 1,
    free_bytes: null,
    faults: false,
  },
  redis: { used: false, up: null, limits: 'local' },
  nodes: [node],
  tables: { networks: true },
};

test('health in words', () => {
  const tones = (health: HealthResponse) => healthLines(health, NOW).map(({ tone }) => tone);
  assert.deepEqual(
    healthLines(HEALTHY, NOW).map(({ text }) => text),
    ['The embedded store answers.', 'Redis is not used: each server counts queries alone.', 'One server runs.'],
  );
  const { store, redis } = HEALTHY;
  assert.deepEqual(tones({ ...HEALTHY, store: { ...store, ready: false, problem: 'gone' } }), ['danger', 'off', 'ok']);
  assert.deepEqual(tones({ ...HEALTHY, store: { ...store, faults: true } }), ['late', 'off', 'ok']);
  assert.deepEqual(tones({ ...HEALTHY, store: { ...store, free_bytes: 1_000 } }), ['ok', 'late', 'off', 'ok']);
  assert.deepEqual(tones({ ...HEALTHY, redis: { ...redis, used: true, up: true } }), ['ok', 'ok', 'ok']);
  assert.deepEqual(tones({ ...HEALTHY, redis: { used: true, up: false, limits: 'local' } }), ['ok', 'late', 'ok']);
  assert.deepEqual(tones({ ...HEALTHY, redis: { used: true, up: false, limits: 'refused' } }), ['ok', 'danger', 'ok']);
  const away = { ...HEALTHY, nodes: [node, { ...node, node: 'b', name: 'second', seen_ts: NOW - 600 }] };
  assert.equal(healthLines(away, NOW).at(-1)?.text, 'One server runs. second was last seen 10 minutes ago.');
});
