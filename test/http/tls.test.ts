import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import tls, { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { closeServer, type ServerOptions, setTlsPair } from '../../src/http/server.ts';
import { expiryOf, readTlsPair, type TlsPair, timeFaultOf } from '../../src/http/tls.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { textOf } from '../metrics/text.ts';
import { makeTlsPair, type TlsFiles } from '../tls-pair.ts';
import { assertError, serve, stubStore, until } from './build.ts';
import { parseResponses } from './raw.ts';

const folder = mkdtempSync(join(tmpdir(), 'urlwarden-test-'));
after(() => rmSync(folder, { recursive: true }));
const first = makeTlsPair(folder, 'first');
const second = makeTlsPair(folder, 'second');

const serveTls = (t: TestContext, options: ServerOptions = {}) =>
  serve(t, { services: { store: stubStore({}) }, options: { tls: first, ...options } });

/** Trusts exactly this certificate. */
function open(port: number, { cert }: TlsFiles, options: ConnectionOptions = {}): TLSSocket {
  return connect({ host: '127.0.0.1', port, servername: 'localhost', ca: cert, ...options });
}

/** All responses until the server closes the connection. */
async function responsesTo(socket: TLSSocket, bytes: string) {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write(bytes);
  await once(socket, 'close');
  return parseResponses(text);
}

const statusOver = (agent: Agent, port: number) =>
  new Promise<number | undefined>((resolve, reject) => {
    const request = get({ host: '127.0.0.1', servername: 'localhost', port, path: '/healthz', agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    request.on('error', reject);
  });

describe('over TLS', () => {
  test('the same server answers', async (t) => {
    const { port } = await serveTls(t);
    const [response] = await responsesTo(
      open(port, first),
      'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    assert.deepEqual([response?.statusCode, response?.body], [200, '{"status":"ok"}']);
  });

  for (const { why, bytes, status } of [
    { why: 'not HTTP', bytes: 'nonsense\r\n\r\n', status: 400 },
    { why: 'no host', bytes: 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', status: 400 },
    { why: 'large headers', bytes: `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, status: 431 },
    { why: 'headers that never end', bytes: 'GET / HTTP/1.1\r\nHost: a\r\n', status: 408 },
    {
      why: 'a body that never ends',
      bytes: 'POST /api/v1/login HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{',
      status: 408,
    },
  ]) {
    test(`an invalid request gets the usual error body: ${why}`, async (t) => {
      const times = { headersTimeoutMs: 200, requestTimeoutMs: 300, connectionsCheckMs: 20 };
      const { port } = await serveTls(t, times);
      const [response] = await responsesTo(open(port, first), bytes);
      assert.ok(response);
      assertError(response, status);
    });
  }

  test('a connection that is not TLS is closed, not counted as a request, and does not affect others', async (t) => {
    const metrics = createMetrics();
    const { port } = await serveTls(t, { metrics });
    for (const bytes of ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', '\0'.repeat(100)]) {
      const socket = connectPlain({ host: '127.0.0.1', port });
      socket.on('error', () => {}).resume();
      socket.write(bytes);
      await once(socket, 'close');
    }
    assert.equal(await statusOver(new Agent({ ca: first.cert }), port), 200);
    assert.doesNotMatch(await textOf(metrics), /^urlwarden_http_unreadable_total\{/m);
  });

  // Node's own limit is two minutes, and the test must not outlast it.
  test('a handshake has the same timeout as headers', { timeout: 10_000 }, async (t) => {
    const { port } = await serveTls(t, { headersTimeoutMs: 100 });
    const socket = connectPlain({ host: '127.0.0.1', port });
    socket.on('error', () => {}).resume();
    await once(socket, 'close');
  });

  test('an incomplete handshake does not delay closing', async (t) => {
    const { app, port } = await serveTls(t);
    const accepted = once(app.server, 'connection');
    const socket = connectPlain({ host: '127.0.0.1', port });
    socket.on('error', () => {}).resume();
    await accepted;
    const startMs = performance.now();
    await Promise.all([closeServer(app, 60_000), once(socket, 'close')]);
    assert.ok(performance.now() - startMs < 5_000);
  });

  test('versions older than TLS 1.2 are refused', async (t) => {
    // Without these two, Node and OpenSSL refuse older versions whatever the server asks for.
    t.mock.property(tls, 'DEFAULT_MIN_VERSION', 'TLSv1');
    const ciphers = 'DEFAULT@SECLEVEL=0';
    const { app, port } = await serveTls(t, { tls: { ...first, ciphers } as TlsPair });
    for (const pair of [first, second]) {
      if (pair === second) setTlsPair(app, { ...pair, ciphers } as TlsPair);
      const old = open(port, pair, { maxVersion: 'TLSv1.1', ciphers });
      t.after(() => old.destroy());
      await assert.rejects(once(old, 'secureConnect'), { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
      const socket = open(port, pair, { maxVersion: 'TLSv1.2' });
      await once(socket, 'secureConnect');
      socket.destroy();
    }
  });

  test('cipher suites without forward secrecy or authenticated encryption are refused', async (t) => {
    const { app, port } = await serveTls(t);
    for (const pair of [first, second]) {
      if (pair === second) setTlsPair(app, pair);
      const suites = ['AES128-GCM-SHA256', 'AES256-SHA256', 'ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA256'];
      for (const ciphers of suites) {
        const weak = open(port, pair, { maxVersion: 'TLSv1.2', ciphers });
        t.after(() => weak.destroy());
        await assert.rejects(once(weak, 'secureConnect'), { code: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE' }, ciphers);
      }
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const socket = open(port, pair, { maxVersion });
        await once(socket, 'secureConnect');
        socket.destroy();
      }
    }
  });

  test('a new certificate is used for new connections, and open connections stay usable', async (t) => {
    const { app, port } = await serveTls(t);
    const agent = new Agent({ ca: first.cert, keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    assert.equal(await statusOver(agent, port), 200);
    await until(() => Object.keys(agent.freeSockets).length === 1);
    setTlsPair(app, second);
    assert.equal(await statusOver(agent, port), 200);
    assert.equal(await statusOver(new Agent({ ca: second.cert }), port), 200);
    await assert.rejects(statusOver(new Agent({ ca: first.cert }), port), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });
});

describe('certificate and key', () => {
  test('are read if they belong together', () => {
    assert.deepEqual(readTlsPair(first.certFile, first.keyFile), { cert: first.cert, key: first.key });
  });

  test('are reported before and after the time of the certificate', () => {
    const expiryMs = Number(expiryOf(first)); // made for two days
    const DAY_MS = 86_400_000;
    assert.equal(timeFaultOf(first, expiryMs - DAY_MS), null);
    assert.match(timeFaultOf(first, expiryMs + 1) ?? '', /^the certificate expired at 20\d\d-.*Z: clients refuse it$/);
    assert.match(timeFaultOf(first, expiryMs - 3 * DAY_MS) ?? '', /^the certificate is not valid before 20\d\d-/);
  });

  test('are refused with a message that names the faulty file', () => {
    const text = join(folder, 'text');
    const weak = makeTlsPair(folder, 'weak', { hasWeakKey: true });
    writeFileSync(text, 'hello');
    chmodSync(text, 0o600);
    for (const [certFile, keyFile, message] of [
      ['/nowhere.crt', first.keyFile, /^The certificate cannot be read: .*\/nowhere\.crt/],
      [first.certFile, folder, /^The key cannot be read: /],
      [text, first.keyFile, /\/text contains no certificate in PEM format/],
      [weak.certFile, weak.keyFile, /^The certificate in .*weak\.crt cannot be used \(.*key too small\)$/],
      [first.certFile, text, /\/text contains no private key in PEM format/],
      [first.certFile, second.keyFile, /^The key in .*second\.key does not belong to the certificate in .*first\.crt/],
    ] as const) {
      assert.throws(() => readTlsPair(certFile, keyFile), { code: 'unavailable', message });
    }
  });
});
