import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '../../src/config/read-settings.ts';
import { SETTINGS } from '../../src/config/settings.ts';

const DEFAULTS = { host: '127.0.0.1', port: 8080, dataDir: './data', demo: false, queryBudgetMs: 10_000 };

for (const { why, args = [], env = {}, values } of [
  { why: 'nothing given', values: {} },
  {
    why: 'flags',
    args: ['--port', '0', '--data=/srv/x', '--demo', '--host', '::1'],
    values: { port: 0, dataDir: '/srv/x', demo: true, host: '::1' },
  },
  {
    why: 'variables',
    env: { URLWARDEN_PORT: '9', URLWARDEN_DEMO: '1', URLWARDEN_DATA: 'd' },
    values: { port: 9, demo: true, dataDir: 'd' },
  },
  { why: 'a flag wins over its variable', args: ['--port', '7'], env: { URLWARDEN_PORT: '9' }, values: { port: 7 } },
  {
    why: 'a switch may be turned off',
    args: ['--demo=false'],
    env: { URLWARDEN_DEMO: 'true' },
    values: { demo: false },
  },
  { why: 'what the tests use is not ours', env: { URLWARDEN_TEST_REDIS_URL: 'x', OTHER: 'y' }, values: {} },
  { why: 'any loopback address', args: ['--host', '127.9.8.7'], values: { host: '127.9.8.7' } },
]) {
  test(`settings: ${why}`, () => {
    assert.deepEqual(readSettings(SETTINGS, args, env), { ok: true, values: { ...DEFAULTS, ...values } });
  });
}

test('all faults are reported together, each with its source and what would be right', () => {
  const env = { URLWARDEN_PROT: '1', URLWARDEN_QUERY_BUDGET_MS: '-1' };
  const args = ['--port', '65536', '--host', '0.0.0.0', '--verbose', 'extra', '--demo=maybe', '--data'];
  const result = readSettings(SETTINGS, args, env);
  assert.ok(!result.ok);
  assert.deepEqual(result.faults, [
    '--verbose is not a flag of this command',
    '"extra" is not expected here',
    '--data needs a value: --data DIR',
    'URLWARDEN_PROT is set, but there is no such setting: unset it or correct its name',
    '--host must be a loopback address such as 127.0.0.1, ::1 or localhost, as long as there are no accounts, not "0.0.0.0"',
    '--port must be a whole number from 0 to 65535, not "65536"',
    '--demo must be true or false, not "maybe"',
    'URLWARDEN_QUERY_BUDGET_MS must be a whole number of milliseconds up to 3600000, not "-1"',
  ]);
});

for (const port of ['', ' 80', '8e1', '0x50', '+1', '1.0', '99999999999999999999']) {
  test(`settings: ${JSON.stringify(port)} is no port`, () => {
    assert.ok(!readSettings(SETTINGS, [`--port=${port}`], {}).ok);
  });
}
