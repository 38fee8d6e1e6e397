import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { DEMO, logIn, startServer } from './server.ts';
import { urlwarden } from './urlwarden.ts';

test('serve has metrics on a separate port', async (t) => {
  const args = ['--demo', '--data', temporaryFolder(t), '--metrics-port', '0'];
  const { url, stdout, stop } = await startServer(t, args);
  const metricsUrl = /^Metrics: (\S+)$/m.exec(stdout())?.[1] ?? '';
  await logIn(url, DEMO);
  await logIn(url, { ...DEMO, password: 'wrong' });
  const text = await (await fetch(metricsUrl)).text();
  for (const line of [
    'urlwarden_http_requests_total{route="/api/v1/login",method="POST",status="200"} 1',
    'urlwarden_http_requests_total{route="/api/v1/login",method="POST",status="401"} 1',
    'urlwarden_logins_total{outcome="ok"} 1',
    'urlwarden_logins_total{outcome="failed"} 1',
    'urlwarden_open_streams 0',
  ])
    assert.ok(text.split('\n').includes(line), line);
  assert.match(text, /^urlwarden_store_seconds_count\{store="control",operation="accountByUsername"\} \d+$/m);
  assert.match(text, /^urlwarden_store_seconds_count\{store="intelligence",operation="apply"\} \d+$/m);
  assert.match(text, /^urlwarden_build_info\{version="\d+\.\d+\.\d+",node="v\d+\.\d+\.\d+"\} 1$/m);
  for (const database of ['intelligence', 'control']) {
    assert.match(text, new RegExp(`^urlwarden_database_file_bytes\\{database="${database}"\\} [1-9]\\d+$`, 'm'));
    assert.match(text, new RegExp(`^urlwarden_database_wal_bytes\\{database="${database}"\\} \\d+$`, 'm'));
  }
  assert.ok(!text.includes('demo@example.com'));
  assert.equal((await fetch(`${url}/metrics`)).status, 404);
  assert.equal(await stop('SIGTERM'), 0);
});

test('serve suggests another port when the port of the metrics is in use', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const args = ['serve', '--port', '0', '--metrics-port', `${port}`, '--data', temporaryFolder(t)];
  const { code, stderr } = await urlwarden(args);
  const advice = 'choose another with --metrics-port, or --metrics-port 0 for any free one';
  assert.deepEqual([code, stderr], [1, `Port ${port} on 127.0.0.1 is in use: ${advice}\n`]);
});
