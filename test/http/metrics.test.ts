import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { openMetricsServer } from '../../src/http/metrics-server.ts';
import { createMetrics, type Metrics } from '../../src/metrics/metrics.ts';
import { everyMetric, labelsByName } from '../metrics/every-metric.ts';
import { textOf } from '../metrics/text.ts';
import { assertError, BASE, build, linesOf, serve, stubStore } from './build.ts';
import { exchange, parseResponses } from './raw.ts';
import { open, origin } from './transport.ts';
import { authorized, LIMITS, QUERIES, withAccounts } from './with-accounts.ts';

/** The lines of one metric, without its name. */
async function rows(metrics: Metrics, name: string): Promise<string[]> {
  const lines = (await textOf(metrics)).split('\n').filter((line) => line.startsWith(name));
  return lines.map((line) => line.slice(name.length)).sort();
}

const QUERIED_URL = 'http://queried.example/secret-path';

describe('metrics', () => {
  test('count responses by route pattern, method and status', async (t) => {
    const metrics = createMetrics();
    const { app } = await build(t, {
      services: { store: stubStore({ hasUrl: async () => true }) },
      options: { metrics },
    });
    const payload = { url: QUERIED_URL };
    for (const path of ['id', 'last', 'last']) await app.inject({ method: 'POST', url: `${BASE}/${path}`, payload });
    await app.inject({ method: 'POST', url: `${BASE}/last`, payload: {} });
    for (const id of [7, 8]) await app.inject({ method: 'GET', url: `${BASE}/${id}/statuses?limit=1` });
    for (const method of ['HEAD', 'OPTIONS', 'PUT', 'PROPFIND'] as const) await app.inject({ method, url: '/healthz' });
    for (const url of ['/', '/wp-login.php', `/${BASE}`]) await app.inject({ method: 'GET', url });
    await app.inject({ method: 'OPTIONS', url: '/' });
    assert.deepEqual(await rows(metrics, 'urlwarden_http_requests_total'), [
      `{route="${BASE}/:id/statuses",method="GET",status="200"} 2`,
      `{route="${BASE}/id",method="POST",status="404"} 1`,
      `{route="${BASE}/last",method="POST",status="400"} 1`,
      `{route="${BASE}/last",method="POST",status="404"} 2`,
      '{route="/healthz",method="HEAD",status="200"} 1',
      '{route="/healthz",method="OPTIONS",status="204"} 1',
      '{route="/healthz",method="other",status="405"} 2',
      '{route="unknown",method="GET",status="404"} 3',
      '{route="unknown",method="OPTIONS",status="404"} 1',
    ]);
    const text = await textOf(metrics);
    assert.ok(
      !text.includes('queried') && !text.includes('wp-login'),
      'labels contain the route pattern, never the path',
    );
  });

  test('measure the time of responses by route pattern and class of status', async (t) => {
    const metrics = createMetrics();
    const { app } = await build(t, { services: { store: stubStore({}) }, options: { metrics } });
    const startMs = performance.now();
    for (const method of ['GET', 'PUT'] as const) await app.inject({ method, url: '/healthz' });
    const tookSeconds = (performance.now() - startMs) / 1000;
    const times = await rows(metrics, 'urlwarden_http_request_seconds');
    assert.deepEqual(
      times.filter((row) => row.includes('+Inf') || row.startsWith('_count')),
      [
        '_bucket{route="/healthz",status_class="2xx",le="+Inf"} 1',
        '_bucket{route="/healthz",status_class="4xx",le="+Inf"} 1',
        '_count{route="/healthz",status_class="2xx"} 1',
        '_count{route="/healthz",status_class="4xx"} 1',
      ],
    );
    const [first, last] = [/le="0\.00025"/, /le="10"/].map((bound) => times.some((row) => bound.test(row)));
    assert.ok(first && last);
    const sum = Number(times.find((row) => row.startsWith('_sum'))?.split(' ')[1]);
    assert.ok(sum > 0 && sum <= tookSeconds, `${sum} of ${tookSeconds} s`);
  });

  test('measure streams apart: the first record and the whole stream', async (t) => {
    const metrics = createMetrics();
    const store = stubStore({
      hasUrl: async (id) => id === 1,
      async *search() {
        yield linesOf([{ ts: 1, id: 1, url: 'http://a.example/' }]);
        await new Promise((resolve) => setTimeout(resolve, 30));
        yield linesOf([{ ts: 1, id: 2, url: 'http://b.example/' }]);
      },
    });
    const { port } = await serve(t, { services: { store }, options: { metrics } });
    const url = `${origin(port)}${BASE}`;
    await (await fetch(`${url}/search`, { method: 'POST', body: '{"asn":1}' })).text();
    for (const path of ['1/statuses', '2/statuses']) await (await fetch(`${url}/${path}`)).text(); // empty, and 404
    const sum = async (name: string) => {
      const [row] = await rows(metrics, `urlwarden_http_stream_${name}_sum{route="${BASE}/search"}`);
      return Number(row);
    };
    const [whole, first] = [await sum('seconds'), await sum('first_record_seconds')];
    assert.ok(whole >= 0.029 && first > 0 && first < whole, `${first} of ${whole} s`);
    const counts = (name: string) => rows(metrics, `urlwarden_http_${name}_count`);
    assert.deepEqual(await counts('stream_first_record_seconds'), [`{route="${BASE}/search"} 1`]);
    assert.deepEqual(await counts('stream_seconds'), [
      `{route="${BASE}/:id/statuses"} 1`,
      `{route="${BASE}/search"} 1`,
    ]);
    assert.deepEqual(await counts('request_seconds'), [`{route="${BASE}/:id/statuses",status_class="4xx"} 1`]);
  });

  test('count refusals by limit', async (t) => {
    const metrics = createMetrics();
    const { app, logIn } = await withAccounts(t, { rlQps: 2 }, { options: { metrics } });
    const good = await logIn();
    for (const query of QUERIES) await app.inject(authorized(query, good));
    for (let i = 0; i < 103; i++) await app.inject(authorized(LIMITS, good));
    assert.deepEqual(await rows(metrics, 'urlwarden_limit_refusals_total'), [
      '{limit="calls"} 3',
      '{limit="qmh"} 0',
      '{limit="rl_qph"} 0',
      '{limit="rl_qpm"} 0',
      `{limit="rl_qps"} ${QUERIES.length - 2}`,
      '{limit="streams"} 0',
    ]);
  });

  test('count open streams, and connections that close before the end of their response', async (t) => {
    const metrics = createMetrics();
    const { promise, resolve } = Promise.withResolvers<void>();
    const store = stubStore({
      async *search() {
        yield linesOf([{ ts: 1, id: 1, url: 'http://a.example/' }]);
        await promise;
      },
    });
    const { app, port } = await serve(t, { services: { store }, options: { metrics } });
    const ended = once(app.server, 'connection').then(([socket]) => once(socket, 'close'));
    const socket = open(port);
    socket.write(`POST ${BASE}/search HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"asn":1}`);
    await once(socket, 'data');
    const openStreams = () => rows(metrics, 'urlwarden_open_streams');
    assert.deepEqual(await openStreams(), [' 1']);
    socket.destroy();
    await ended;
    resolve();
    const answered = once(app.server, 'connection').then(([socket]) => once(socket, 'close'));
    await exchange(port, 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await answered;
    assert.deepEqual([await rows(metrics, 'urlwarden_http_aborted_total'), await openStreams()], [[' 1'], [' 0']]);
  });

  test('count requests that are refused before they reach a route, once per connection', async (t) => {
    const metrics = createMetrics();
    const { port } = await serve(t, { services: { store: stubStore({}) }, options: { metrics } });
    const close = 'Connection: close\r\n';
    for (const bytes of [
      'nonsense\r\n\r\n',
      `GET /healthz HTTP/1.1\r\n${close}\r\n`,
      `GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: something\r\n${close}\r\n`,
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
    ])
      await exchange(port, bytes);
    const socket = open(port);
    socket.write('nonsense\r\n\r\n');
    await once(socket, 'data');
    socket.write('and more\r\n\r\n');
    await once(socket, 'close');
    assert.deepEqual(await rows(metrics, 'urlwarden_http_unreadable_total'), [
      '{status="400"} 3',
      '{status="404"} 1',
      '{status="417"} 1',
      '{status="431"} 1',
    ]);
  });

  test('are all documented, with their types and labels', async () => {
    const documentation = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    const rows = [...documentation.matchAll(/^\| `(urlwarden_\w+(?:\{[\w,]+\})?)` \| (\w+) \|/gm)];
    const text = await everyMetric();
    const labels = labelsByName(text);
    const exported = [...text.matchAll(/^# TYPE (urlwarden_\w+) (\w+)/gm)].map(([, name = '', type = '']) => {
      const names = labels.get(type === 'histogram' ? `${name}_count` : name) ?? assert.fail(`no row of ${name}`);
      return `${name}${names.length > 0 ? `{${names}}` : ''} ${type}`;
    });
    assert.deepEqual(rows.map(([, name, type]) => `${name} ${type}`).sort(), exported.sort());
  });

  test('are separate for two servers in one process', async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.loginEnded('ok');
    assert.deepEqual(await rows(one, 'urlwarden_logins_total'), ['{outcome="ok"} 1']);
    assert.deepEqual(await rows(other, 'urlwarden_logins_total'), []);
  });
});

describe('the metrics listener', () => {
  async function listen(t: TestContext) {
    const metrics = createMetrics();
    const server = await openMetricsServer(() => textOf(metrics), { host: '127.0.0.1', port: 0 });
    t.after(() => server.close());
    return `http://127.0.0.1:${server.port}`;
  }
  const received = async (response: Response) => ({
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  });

  test('answers in the Prometheus text format', async (t) => {
    const url = await listen(t);
    const { statusCode, headers, body } = await received(await fetch(`${url}/metrics?x=1`));
    assert.deepEqual([statusCode, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8']);
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds{thread="0"}',
    ])
      assert.match(body, new RegExp(`^${name} [\\d.e+-]+$`, 'm'));
    const head = await received(await fetch(`${url}/metrics`, { method: 'HEAD' }));
    assert.deepEqual([head.statusCode, head.body], [200, '']);
  });

  test('refuses other paths, methods and invalid requests as the API does', async (t) => {
    const url = await listen(t);
    for (const path of ['/', '/metrics/', '/metrics/x', '/healthz'])
      assertError(await received(await fetch(url + path)), 404);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const response = await received(await fetch(`${url}/metrics`, { method }));
      assertError(response, 405);
      assert.equal(response.headers.allow, 'GET, HEAD');
    }
    const { text } = await exchange(Number(new URL(url).port), 'nonsense\r\n\r\n');
    const [response] = parseResponses(text);
    assert.ok(response);
    assertError(response, 400);
  });

  test('closes immediately, also with open connections', { timeout: 10_000 }, async (t) => {
    const server = await openMetricsServer(() => textOf(createMetrics()), { host: '127.0.0.1', port: 0 });
    const [idle, asking] = [open(server.port), open(server.port)];
    t.after(() => asking.destroy());
    const closed = [idle, asking].map((socket) => once(socket, 'close'));
    idle.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
    asking.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\nGET /metrics HTTP/1.1\r\n'); // half of its second request
    await Promise.all([once(idle, 'data'), once(asking, 'data')]);
    await Promise.all([server.close(), ...closed]);
  });
});
