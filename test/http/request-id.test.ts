import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openMetricsServer } from '../../src/http/metrics-server.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { textOf } from '../metrics/text.ts';
import { BASE, build, exampleOf, linesOf, ROUTES, serve, stubStore } from './build.ts';
import { exchange, parseResponses } from './raw.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ID = 'trace-1.of_a_Client';
const GIVEN = `Host: a\r\nX-Request-Id: ${ID}\r\n`;

/** The headers of every response but those to lookups. One that has a tag may be kept by its client. */
function assertDefaults(headers: Record<string, unknown> = {}, what = ''): void {
  assert.equal(headers['x-content-type-options'], 'nosniff', what);
  assert.equal(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'", what);
  assert.equal(headers['cache-control'], headers.etag === undefined ? 'no-store' : 'private, no-cache', what);
}

describe('X-Request-Id and the default headers', () => {
  for (const [what, given] of [
    ['of 8 characters', 'abcdefgh'],
    ['of 128 characters', 'a1._-Z'.padEnd(128, 'x')],
  ] as const) {
    test(`a caller's id ${what} is kept`, async (t) => {
      const { app } = await build(t, { services: { store: stubStore({}) } });
      const response = await app.inject({ url: '/healthz', headers: { 'x-request-id': given } });
      assert.equal(response.headers['x-request-id'], given);
    });
  }

  test('anything else gets a new UUID for each request', async (t) => {
    const { app } = await build(t, { services: { store: stubStore({}) } });
    const seen = new Set<unknown>();
    const bad = [
      '',
      'short12',
      'x'.repeat(129),
      'with space',
      'a:b:c:d:e',
      'quo"ted-id',
      'ümlaut-is-long',
      'a,b,c,d,e,f',
    ];
    for (const given of [undefined, ...bad]) {
      const headers = given === undefined ? {} : { 'x-request-id': given };
      const { headers: sent } = await app.inject({ url: '/healthz', headers });
      assert.match(String(sent['x-request-id']), UUID, given);
      seen.add(sent['x-request-id']);
    }
    assert.equal(seen.size, bad.length + 1);
  });

  test('are in the response of every route, method and refusal', async (t) => {
    const { app } = await build(t, { services: { store: stubStore({}) } });
    const headers = { 'x-request-id': ID };
    const targets = [...ROUTES.map(({ endpoint }) => exampleOf(endpoint.path)), '/nowhere', '/%zz', '*'];
    const statuses = new Set<number>();
    for (const url of targets) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE'] as const) {
        const response = await app.inject({ method, url, headers, ...(method === 'POST' && { payload: '{' }) });
        assert.equal(response.headers['x-request-id'], ID, `${method} ${url} ${response.statusCode}`);
        const isLookup = url.includes('/byobject/');
        if (!isLookup && method !== 'OPTIONS')
          assertDefaults(response.headers, `${method} ${url} ${response.statusCode}`);
        statuses.add(response.statusCode);
      }
    }
    for (const status of [200, 204, 400, 404, 405]) assert.ok(statuses.has(status), `${status}`);
  });

  test('X-Request-Id is in a stream, once', async (t) => {
    const store = stubStore({
      async *search() {
        yield linesOf([{ ts: 1, id: 1, url: 'http://a.example/' }]);
      },
    });
    const { port } = await serve(t, { services: { store } });
    const { text } = await exchange(
      port,
      `POST ${BASE}/search HTTP/1.1\r\n${GIVEN}Connection: close\r\nContent-Length: 9\r\n\r\n{"asn":1}`,
    );
    assert.equal(text.match(/x-request-id/gi)?.length, 1);
    assert.equal(parseResponses(text)[0]?.headers['x-request-id'], ID);
  });

  const times = { requestTimeoutMs: 120, headersTimeoutMs: 60, connectionsCheckMs: 10 };
  const close = 'Connection: close\r\n';
  for (const [what, bytes, status, isKnown] of [
    ['bytes that are no request', 'nonsense\r\n\r\n', 400, false],
    ['two hosts', `GET / HTTP/1.1\r\nHost: b\r\n${GIVEN}${close}\r\n`, 400, true],
    ['an unknown expectation', `GET / HTTP/1.1\r\n${GIVEN}${close}Expect: x\r\n\r\n`, 417, true],
    ['headers that are too large', `GET / HTTP/1.1\r\n${GIVEN}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431, false],
    ['CONNECT', `CONNECT a:1 HTTP/1.1\r\n${GIVEN}\r\n`, 404, true],
    ['a target that is no path', `GET /%zz HTTP/1.1\r\n${GIVEN}${close}\r\n`, 404, true],
    ['half of the headers', `GET / HTTP/1.1\r\n${GIVEN}`, 408, false],
    ['half of a body', `POST ${BASE}/last HTTP/1.1\r\n${GIVEN}Content-Length: 9\r\n\r\n{`, 408, true],
    ['a faulty chunk', `POST ${BASE}/last HTTP/1.1\r\n${GIVEN}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400, true],
  ] as const) {
    test(`below Fastify: ${what}`, async (t) => {
      const metrics = createMetrics();
      const { port } = await serve(t, { services: { store: stubStore({}) }, options: { ...times, metrics } });
      const [response] = parseResponses((await exchange(port, bytes)).text);
      assert.equal(response?.statusCode, status);
      if (isKnown) assert.equal(response?.headers['x-request-id'], ID);
      else assert.match(`${response?.headers['x-request-id']}`, UUID);
      assertDefaults(response?.headers);
    });
  }

  test('faulty bytes after a complete request do not get its id', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    const responses = parseResponses(
      (await exchange(port, `GET /healthz HTTP/1.1\r\n${GIVEN}\r\nnonsense\r\n\r\n`)).text,
    );
    const [first, second] = responses.map(({ headers }) => `${headers['x-request-id']}`);
    assert.equal(first, ID);
    assert.match(`${second}`, UUID);
  });

  test('are in the responses of the metrics listener', async (t) => {
    const server = await openMetricsServer(() => textOf(createMetrics()), { host: '127.0.0.1', port: 0 });
    t.after(() => server.close());
    for (const path of ['/metrics', '/']) {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { 'x-request-id': ID } });
      assert.equal(response.headers.get('x-request-id'), ID);
      assertDefaults(Object.fromEntries(response.headers));
    }
  });
});
