import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { paths } from '../../src/core/paths.ts';
import type { ServerOptions } from '../../src/http/server.ts';
import { BASE, linesOf, serve, stubStore } from './build.ts';
import { exchange } from './raw.ts';
import { authorized, PASSWORD, withAccounts } from './with-accounts.ts';

const ID = 'trace-of-a-client';
const ASKED = 'http://asked.example/secret-path';
const IP = '203.0.113.77';
const DOMAIN = 'asked-domain.example';

type Line = Record<string, unknown>;

/** The lines that a server at the level `error` has written so far. */
function logged(accessLog?: ServerOptions['accessLog']) {
  const texts: string[] = [];
  const logger = { level: 'error', stream: { write: (line: string) => void texts.push(line) } };
  const lines = (): Line[] => texts.map((text) => JSON.parse(text));
  return { texts, lines, options: { logger, ...(accessLog && { accessLog }) } };
}

const failing = () =>
  stubStore({
    urlHistory: async () => {
      throw new Error('a defect');
    },
  });

const ALL: InjectOptions[] = [
  { method: 'POST', url: `${BASE}/last?token=in-the-query`, payload: { url: ASKED } },
  { method: 'GET', url: `/api/intel/v1/byobject/cidr/ALL/listed/live/${IP}` },
  { method: 'GET', url: `/api/intel/v2/byobject/domain/${DOMAIN}` },
  { method: 'GET', url: `${BASE}/7/statuses` },
  { method: 'POST', url: `${BASE}/last`, payload: { url: ASKED, typo: 1 } },
  { method: 'GET', url: `/nowhere/${DOMAIN}` },
  { method: 'OPTIONS', url: '/healthz' },
];

test('an access log has a line for each request, without what was asked for', async (t) => {
  const { texts, lines, options } = logged({ sample: 1, hasQueries: false });
  const { app, logIn, sub } = await withAccounts(t, {}, { options });
  const good = await logIn();
  for (const request of ALL) {
    const { headers, ...rest } = authorized(request, good);
    await app.inject({ ...rest, headers: { ...headers, 'x-request-id': ID } });
  }
  const [login, last, ...others] = lines();
  assert.deepEqual([login?.route, login?.sub, login?.status], [paths.login, undefined, 200]);
  const { time, ms, bytes, pid: _pid, hostname: _hostname, ...fields } = last ?? {};
  assert.deepEqual(fields, {
    level: 30,
    requestId: ID,
    sub,
    method: 'POST',
    route: `${BASE}/last`,
    status: 404,
    msg: 'request',
  });
  assert.ok(Number(time) > 0 && Number(ms) >= 0 && Number(bytes) > 0);
  assert.deepEqual(
    others.map(({ route, status }) => [route, status]),
    [
      ['/api/intel/v1/byobject/cidr/:dataset/:mode/:type/:ip', 404],
      ['/api/intel/v2/byobject/domain/:domain', 404],
      [`${BASE}/:id/statuses`, 404],
      [`${BASE}/last`, 400],
      ['unknown', 404],
      ['/healthz', 204],
    ],
  );
  for (const text of ['asked', 'secret', IP, 'token', PASSWORD, 'Bearer', '127.0.0.1'])
    assert.ok(!texts.join('').includes(text), text);
});

test('an access log with queries has what was asked for, but no password and no query string', async (t) => {
  const { texts, lines, options } = logged({ sample: 1, hasQueries: true });
  const { app, logIn } = await withAccounts(t, {}, { options });
  const good = await logIn();
  for (const request of ALL) await app.inject(authorized(request, good));
  assert.deepEqual(
    lines().map(({ query }) => query),
    [
      undefined,
      { url: ASKED },
      { dataset: 'ALL', mode: 'listed', type: 'live', ip: IP },
      { domain: DOMAIN },
      { id: '7' },
      undefined,
      undefined,
      undefined,
    ],
  );
  for (const text of [PASSWORD, 'in-the-query', 'Bearer']) assert.ok(!texts.join('').includes(text), text);
});

test('a sampled access log has every failure of the server', async (t) => {
  const { lines, options } = logged({ sample: 0.000_000_001, hasQueries: false });
  const { app, logIn, sub } = await withAccounts(t, {}, { services: { store: failing() }, options });
  const good = await logIn();
  for (const path of ['last', 'history']) {
    const payload = { url: ASKED };
    await app.inject(authorized({ method: 'POST', url: `${BASE}/${path}`, payload }, good));
  }
  const [failed, request, ...others] = lines();
  assert.deepEqual([others, request?.msg, request?.requestId], [[], 'request', failed?.requestId]);
  const expected = { level: 50, sub, method: 'POST', route: `${BASE}/history`, status: 500, msg: 'a request failed' };
  assert.deepEqual({ ...failed, ...expected }, failed);
});

test('without an access log only failures are logged, a broken stream too', async (t) => {
  const store = stubStore({
    async *search() {
      yield linesOf([{ ts: 1, id: 1, url: 'http://a.example/' }]);
      throw new Error('a defect');
    },
  });
  const { lines, options } = logged();
  const { port } = await serve(t, { services: { store }, options });
  const head = `Host: a\r\nX-Request-Id: ${ID}\r\n`;
  await exchange(port, `POST ${BASE}/search HTTP/1.1\r\n${head}Content-Length: 9\r\n\r\n{"asn":1}`);
  await exchange(port, `GET /healthz HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
  const [line, ...others] = lines();
  assert.deepEqual([others, line?.requestId, line?.msg], [[], ID, 'a stream broke']);
  assert.deepEqual([line?.route, line?.status, typeof line?.sub], [`${BASE}/search`, 200, 'string']);
});

test('an access log has requests that were refused before their path was known', async (t) => {
  const { lines, options } = logged({ sample: 1, hasQueries: true });
  const { port } = await serve(t, { services: { store: stubStore({}) }, options });
  const { text } = await exchange(port, 'nonsense\r\n\r\n');
  const [line] = lines();
  assert.deepEqual([line?.route, line?.status, line?.msg], ['unreadable', 400, 'request']);
  assert.ok(text.includes(`${line?.requestId}`));
});

test('every field of a line about a request is documented', async (t) => {
  const { lines, options } = logged({ sample: 1, hasQueries: true });
  const { app, logIn } = await withAccounts(t, {}, { options });
  const [request] = ALL;
  assert.ok(request);
  await app.inject(authorized(request, await logIn()));
  const documentation = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const table = /\| field \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(documentation)?.[1] ?? '';
  const documented = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => `${name}`);
  const everyLine = ['level', 'time', 'pid', 'hostname', 'msg'];
  assert.deepEqual(
    documented.sort(),
    Object.keys(lines().at(-1) ?? {})
      .filter((name) => !everyLine.includes(name))
      .sort(),
  );
});
