import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '../../src/config/read-settings.ts';
import { conflictsOf, DEFAULT_SETTINGS, SETTINGS } from '../../src/config/settings.ts';

for (const { why, args = [], env = {}, values } of [
  { why: 'defaults', values: {} },
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
  {
    why: 'a flag takes precedence over its variable',
    args: ['--port', '7'],
    env: { URLWARDEN_PORT: '9' },
    values: { port: 7 },
  },
  {
    why: 'a switch can be set to false',
    args: ['--demo=false'],
    env: { URLWARDEN_DEMO: 'true' },
    values: { demo: false },
  },
  {
    why: 'test variables and variables without our prefix are ignored',
    env: { URLWARDEN_TEST_REDIS_URL: 'x', OTHER: 'y' },
    values: {},
  },
  { why: 'the wildcard address', args: ['--host', '0.0.0.0'], values: { host: '0.0.0.0' } },
  {
    why: 'the longest token life, below 24 days',
    args: ['--token-life-seconds', '2073599'],
    values: { tokenLifeSeconds: 2_073_599 },
  },
  {
    why: 'files',
    args: ['--tls-cert', 'c.pem', '--tls-key=k.pem', '--signing-key-file', 's'],
    values: { tlsCertFile: 'c.pem', tlsKeyFile: 'k.pem', signingKeyFile: 's' },
  },
  {
    why: 'several hosts in a database URL and in the URL of a replica',
    args: [
      '--database-url',
      'postgres://u:p@a:1,b:2/x',
      '--database-read-url',
      'postgres://a,b/x,postgresql://c/x?y=1',
    ],
    values: {
      databaseUrl: 'postgres://u:p@a:1,b:2/x',
      databaseReadUrls: ['postgres://a,b/x', 'postgresql://c/x?y=1'],
    },
  },
  {
    why: 'proxies, in canonical form',
    args: ['--trust-proxy', '10.1.2.3/8, 2001:DB8:0::1,::ffff:192.0.2.1'],
    values: { trustedProxies: ['10.0.0.0/8', '2001:db8::1', '192.0.2.1'] },
  },
  { why: 'metrics disabled', env: { URLWARDEN_METRICS_PORT: 'off' }, values: { metricsPort: 'off' } },
  {
    why: 'another address for metrics',
    args: ['--metrics-host', '::1', '--metrics-port', '0'],
    values: { metricsHost: '::1', metricsPort: 0 },
  },
  { why: 'a log level', args: ['--log-level', 'debug'], values: { logLevel: 'debug' } },
]) {
  test(`settings: ${why}`, () => {
    assert.deepEqual(readSettings(SETTINGS, args, env), { ok: true, values: { ...DEFAULT_SETTINGS, ...values } });
  });
}

test('the default settings', () => {
  const { host, port, dataDir, demo, tokenLifeSeconds, metricsHost, trustedProxies, logLevel } = DEFAULT_SETTINGS;
  assert.deepEqual(
    { host, port, dataDir, demo, tokenLifeSeconds, metricsHost, trustedProxies, logLevel },
    {
      host: '127.0.0.1',
      port: 8080,
      dataDir: './data',
      demo: false,
      tokenLifeSeconds: 86_400,
      metricsHost: '127.0.0.1',
      trustedProxies: [],
      logLevel: 'warn',
    },
  );
});

test('all faults are reported together, each with its source and the valid values', () => {
  const env = { URLWARDEN_PROT: '1', URLWARDEN_QUERY_BUDGET_MS: '-1' };
  const args = ['--port', '65536', '--host', 'nowhere', '--verbose', '--hots=x', 'extra', '--demo=maybe', '--data'];
  const result = readSettings(SETTINGS, args, env);
  assert.ok(!result.ok);
  assert.deepEqual(result.faults, [
    '--verbose is not a flag of this command',
    '--hots is not a flag of this command. Did you mean "--host"?',
    '"extra" is not expected here',
    '--data needs a value: --data DIR',
    'URLWARDEN_PROT is set, but no such setting exists: unset it or correct its name. Did you mean "URLWARDEN_PORT"?',
    '--host must be an IP address such as 127.0.0.1, 0.0.0.0 or ::, or localhost, not "nowhere"',
    '--port must be a whole number from 0 to 65535, not "65536"',
    '--demo must be true or false, not "maybe"',
    'URLWARDEN_QUERY_BUDGET_MS must be a whole number of milliseconds from 1 to 3600000, not "-1"',
  ]);
});

test('the message about an invalid URL does not show its password', () => {
  const result = readSettings(SETTINGS, ['--redis-url', 'redis://:hunter2@127.0.0.1/x'], {});
  assert.ok(!result.ok);
  assert.match(result.faults.join(), /^--redis-url must be redis:\/\/HOST/);
  assert.doesNotMatch(result.faults.join(), /hunter2/);
});

for (const [flag, good, bad] of [
  ['token-life-seconds', ['60', '2073599'], ['59', '2073600', '1.5', '-1']],
  ['metrics-port', ['0', '9464', 'off'], ['65536', 'on', '']],
  ['trust-proxy', ['192.0.2.1', '192.0.2.0/24,2001:db8::/32'], ['192.0.2.0/33', 'proxy', '127.1']],
  ['max-unpacked-bytes', ['17179869184'], ['0x10', '99999999999999999']],
  ['log-level', ['error', 'warn', 'info', 'debug'], ['loud', 'WARN']],
  ['access-log-sample', ['0', '1', '0.01', '1.0'], ['2', '1.01', '-0.5', '.5', '1e-2', '50%', '']],
  ['redis-url', ['redis://127.0.0.1', 'redis+cluster://a:1,b:2'], ['127.0.0.1', 'redis+sentinel://a:1', '']],
  ['redis-prefix', ['urlwarden', 'a.b:c_d-1'], ['', '{x}', 'a b', 'x'.repeat(65)]],
  ['limits-when-redis-is-down', ['local', 'refuse'], ['Local', '']],
] as [string, string[], string[]][]) {
  test(`settings: valid and invalid values of --${flag}`, () => {
    for (const text of good) assert.ok(readSettings(SETTINGS, [`--${flag}=${text}`], {}).ok, text);
    for (const text of bad) assert.ok(!readSettings(SETTINGS, [`--${flag}=${text}`], {}).ok, text);
  });
}

for (const { why, settings, conflicts } of [
  { why: 'defaults', settings: {}, conflicts: 0 },
  { why: 'a demo on loopback', settings: { demo: true, host: '127.9.8.7' }, conflicts: 0 },
  { why: 'a demo on the wildcard address', settings: { demo: true, host: '0.0.0.0' }, conflicts: 1 },
  { why: 'a demo in PostgreSQL', settings: { demo: true, databaseUrl: 'postgres://h/x' }, conflicts: 1 },
  { why: 'replicas without a primary', settings: { databaseReadUrls: ['postgres://h/x'] }, conflicts: 1 },
  { why: 'a certificate without its key', settings: { tlsCertFile: 'c' }, conflicts: 1 },
  { why: 'a key without its certificate', settings: { tlsKeyFile: 'k' }, conflicts: 1 },
  { why: 'a certificate and its key', settings: { tlsCertFile: 'c', tlsKeyFile: 'k' }, conflicts: 0 },
]) {
  test(`conflicts between settings: ${why}`, () => {
    assert.equal(conflictsOf({ ...DEFAULT_SETTINGS, ...settings }).length, conflicts);
  });
}

for (const port of ['', ' 80', '8e1', '0x50', '+1', '1.0', '99999999999999999999']) {
  test(`settings: ${JSON.stringify(port)} is not a valid port`, () => {
    assert.ok(!readSettings(SETTINGS, [`--port=${port}`], {}).ok);
  });
}

for (const [flag, text] of [
  ['database-url', 'mysql://h/x'],
  ['database-url', 'postgres://h'],
  ['database-url', 'postgres://h/'],
  ['database-read-url', 'postgres://h/x,other'],
  ['database-connections', '0'],
  ['token-life-seconds', '59'],
  ['token-life-seconds', '2073600'],
  ['tls-cert', ''],
  ['signing-key-file', ''],
  ['trust-proxy', ''],
  ['trust-proxy', 'loopback'],
  ['trust-proxy', '10.0.0.0/33'],
  ['trust-proxy', '10.0.0.0/8,'],
  ['trust-proxy', '10.0.0.0/8;10.0.0.1'],
  ['trust-proxy', '0.0.0.0/0'],
  ['trust-proxy', '::1,::/0'],
  ['trust-proxy', '::ffff:0:0/96'],
  ['metrics-host', 'example.com'],
  ['metrics-port', 'on'],
  ['metrics-port', '65536'],
  ['log-level', 'trace'],
  ['log-level', 'WARN'],
]) {
  test(`settings: --${flag} refuses ${JSON.stringify(text)}`, () => {
    assert.ok(!readSettings(SETTINGS, [`--${flag}=${text}`], {}).ok);
  });
}

for (const { why, given, conflicts } of [
  { why: 'defaults', given: {}, conflicts: [] },
  { why: 'a demo on the wildcard address', given: { demo: true, host: '0.0.0.0' }, conflicts: [/^--demo .*loopback/] },
  { why: 'a demo on the IPv6 wildcard address', given: { demo: true, host: '::' }, conflicts: [/^--demo /] },
  { why: 'a demo on loopback', given: { demo: true, host: '127.9.8.7' }, conflicts: [] },
  { why: 'a demo on the IPv6 loopback', given: { demo: true, host: '::1' }, conflicts: [] },
  { why: 'a demo on localhost', given: { demo: true, host: 'localhost' }, conflicts: [] },
  { why: 'a certificate and its key', given: { tlsCertFile: 'c', tlsKeyFile: 'k' }, conflicts: [] },
  { why: 'a certificate without its key', given: { tlsCertFile: 'c' }, conflicts: [/^--tls-cert and --tls-key/] },
  {
    why: 'two conflicts',
    given: { tlsKeyFile: 'k', demo: true, host: '192.0.2.1' },
    conflicts: [/^--demo /, /^--tls-cert and --tls-key/],
  },
]) {
  test(`conflicts between settings: ${why}`, () => {
    const found = conflictsOf({ ...DEFAULT_SETTINGS, ...given });
    assert.equal(found.length, conflicts.length, found.join('\n'));
    for (const [i, pattern] of conflicts.entries()) assert.match(`${found[i]}`, pattern);
  });
}
