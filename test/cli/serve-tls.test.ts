import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../http/build.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { makeTlsPair, type TlsFiles } from '../tls-pair.ts';
import { startServer } from './server.ts';
import { urlwarden } from './urlwarden.ts';

/** The status of a request on a new connection that trusts only this certificate. */
const status = (url: string, { cert }: TlsFiles) =>
  new Promise<number | undefined>((resolve, reject) => {
    const options = { ca: cert, agent: false as const, servername: 'localhost' };
    get(`${url}/healthz`, options, (response) => response.resume().on('end', () => resolve(response.statusCode))).on(
      'error',
      reject,
    );
  });

/** Unix seconds. */
const expiryOf = ({ cert }: TlsFiles) => Date.parse(new X509Certificate(cert).validTo) / 1000;

test('serve --tls-cert --tls-key answers over HTTPS, and reloads both files on SIGHUP', async (t) => {
  const folder = temporaryFolder(t);
  const [first, second] = [makeTlsPair(folder, 'first'), makeTlsPair(folder, 'second')];
  const [cert, key] = [join(folder, 'in-use.crt'), join(folder, 'in-use.key')];
  const use = (pair: TlsFiles) => {
    copyFileSync(pair.certFile, cert);
    copyFileSync(pair.keyFile, key);
  };
  use(first);
  const args = ['--data', join(folder, 'data'), '--tls-cert', cert, '--tls-key', key, '--log-level', 'info'];
  const { url, child, stdout, stderr, stop } = await startServer(t, [...args, '--metrics-port', '0']);
  const logged = (text: string) => until(() => stderr().includes(text));
  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(await status(url, first), 200);
  const expiryTs = async () => {
    const text = await (await fetch(/^Metrics: (\S+)$/m.exec(stdout())?.[1] ?? '')).text();
    return Number(/^urlwarden_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(text)?.[1]);
  };
  assert.equal(await expiryTs(), expiryOf(first));

  use(second);
  child.kill('SIGHUP');
  await logged('certificate and key were read again');
  assert.equal(await status(url, second), 200);
  assert.equal(await expiryTs(), expiryOf(second));

  writeFileSync(key, 'no key');
  child.kill('SIGHUP');
  await logged('certificate and key stay as they were');
  assert.equal(await status(url, second), 200);

  use(makeTlsPair(folder, 'old', { isExpired: true }));
  child.kill('SIGHUP');
  await logged('the certificate expired at 2025-01-02T00:00:00.000Z: clients refuse it');
  assert.equal(await stop('SIGTERM'), 0);
});

test('serve reports a certificate without its key', async (t) => {
  const folder = temporaryFolder(t);
  const [first, second] = [makeTlsPair(folder, 'first'), makeTlsPair(folder, 'second')];
  const serve = (...args: string[]) => urlwarden(['serve', '--port', '0', '--metrics-port', 'off', ...args]);
  const data = ['--data', join(folder, 'data')];
  const wrong = await serve(...data, '--tls-cert', first.certFile, '--tls-key', second.keyFile);
  assert.deepEqual([wrong.code, wrong.stderr.split('\n').length], [1, 2], wrong.stderr);
  assert.match(wrong.stderr, /^The key in /);
  const half = await serve(...data, '--tls-cert', first.certFile);
  assert.equal(half.code, 2);
  assert.match(half.stderr, /^--tls-cert and --tls-key belong together: set both or neither\n/);
});
