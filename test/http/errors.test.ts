import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import { loginFailed } from '../../src/accounts/bearer.ts';
import { AppError } from '../../src/core/errors.ts';
import { paths } from '../../src/core/paths.ts';
import { ipOf, sourceOf, stateOf } from '../reputation/domain-state.ts';
import { admitAll } from './admit-all.ts';
import { assertError, BASE, build, exampleOf, NOW, ROUTES, stubStore } from './build.ts';

type Method = NonNullable<InjectOptions['method']>;

const withUrls = (routes: typeof ROUTES) =>
  routes.map(({ endpoint }) => ({ ...endpoint, url: exampleOf(endpoint.path) }));
const byPath = Map.groupBy(withUrls(ROUTES), ({ url }) => url);
/** Those that administrators alone may use are in `admin-*.test.ts`. */
const endpoints = withUrls(ROUTES.filter(({ access }) => access !== 'administrator'));
/** `bulk.test.ts` has the body that is not JSON. */
const posts = endpoints.filter(({ method, body }) => method === 'POST' && body !== 'stream');
const allowOf = (methods: string[]) => [
  ...(methods.includes('GET') ? ['GET', 'HEAD'] : []),
  ...(methods.includes('POST') ? ['POST'] : []),
  'OPTIONS',
];
const LOGIN = '{"username":"unknown","password":"x","realm":"intel"}';
/** Valid bodies, for which an empty store finds nothing, and the expected status. */
const GOOD_BODIES: Record<string, [body: string, status: number]> = {
  [paths.login]: [LOGIN, 401],
  [paths.portalLogin]: [LOGIN, 401],
  [paths.portalLogout]: ['{}', 200],
  [paths.portalSessionsEnd]: ['{"others":true}', 200],
  [paths.portalPassword]: ['{"current":"x","new":"y"}', 403],
  [paths.portalListExplain]: ['{"text":"a.example"}', 404],
  [paths.portalListKeys]: ['{"list":"none","device":"x"}', 404],
  [paths.portalListKeyRemove]: ['{}', 404],
  [paths.urlSearch]: ['{"asn":1}', 404],
  [paths.portalSearch]: ['{"asn":1}', 404],
  [paths.portalUrl]: ['{"url":"http://a.example/"}', 200],
};
const goodBody = (path: string) => GOOD_BODIES[path] ?? (['{"url":"http://a.example/"}', 404] as const);
/** Everything that a GET asks for is known. */
const knowing = stubStore({
  hasUrl: async () => true,
  domainState: () => stateOf(),
  listings: () => [
    {
      network: { ip: ipOf('192.0.2.1'), prefix: 128 },
      dataset: 'XBL',
      source: { id: 1, ...sourceOf('a feed') },
      family: null,
      port: null,
      listedTs: NOW,
      seenTs: NOW,
      details: '',
    },
  ],
});
const fail = async () => Promise.reject(loginFailed());
const failed = { login: fail, pages: { ...admitAll(() => NOW).pages, checkPassword: fail } };

describe('every route', () => {
  test('refuses every other method with 405 and Allow, whatever the body', async (t) => {
    const { app } = await build(t);
    for (const [url, ofPath] of byPath) {
      const allowed = allowOf(ofPath.map(({ method }) => method));
      const others = METHODS.filter((name) => name !== 'CONNECT' && !allowed.includes(name));
      assert.ok(others.length > 25);
      for (const other of others) {
        const response = await app.inject({
          method: other as Method,
          url,
          payload: '{',
          headers: { 'content-type': 'x' },
        });
        assertError(response, 405);
        assert.equal(response.headers.allow, allowed.join(', '));
      }
    }
  });

  test('answers OPTIONS with 204 and Allow', async (t) => {
    const { app } = await build(t);
    for (const [url, ofPath] of byPath) {
      const response = await app.inject({ method: 'OPTIONS', url });
      assert.deepEqual([response.statusCode, response.body], [204, '']);
      assert.equal(response.headers.allow, allowOf(ofPath.map(({ method }) => method)).join(', '));
    }
  });

  test('answers HEAD as GET, without a body', async (t) => {
    const { app } = await build(t, { services: { store: knowing } });
    for (const { url } of endpoints.filter(({ method }) => method === 'GET')) {
      const [get, head] = [await app.inject(url), await app.inject({ method: 'HEAD', url })];
      assert.deepEqual([head.statusCode, head.body], [200, '']);
      assert.equal(head.headers['content-type'], get.headers['content-type']);
    }
  });

  test('GET accepts a Content-Type without a body', async (t) => {
    const { app } = await build(t, { services: { store: knowing } });
    for (const { url } of endpoints.filter(({ method }) => method === 'GET')) {
      for (const type of ['application/json', 'nonsense']) {
        assert.equal((await app.inject({ url, headers: { 'content-type': type } })).statusCode, 200);
      }
    }
  });

  const INVALID: [what: string, payload: string | Buffer, message: RegExp][] = [
    ['an empty body', '', /empty/],
    ['blanks', '  \n', /JSON/],
    ['an incomplete object', '{"url":"http://a.example/"', /JSON/],
    ['two values', '{} {}', /JSON/],
    ['a comment', '{/**/}', /JSON/],
    ['single quotes', "{'url':'x'}", /JSON/],
    ['a form', 'url=http%3A%2F%2Fa.example%2F', /JSON/],
    ['a list', '[]', /object/],
    ['a list of one', '[{"url":"http://a.example/"}]', /object/],
    ['null', 'null', /object/],
    ['a number', '1e999', /object/],
    ['a text', '"http://a.example/"', /object/],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /UTF-8/],
    ['an overlong form', Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]), /UTF-8/],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /UTF-8/],
    ['UTF-16', Buffer.from('{"url":"http://a.example/"}', 'utf16le'), /JSON/],
    ['deep nesting', '['.repeat(60_000), /JSON/],
    ['deep, but complete', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, /object/],
    [
      'a prototype',
      '{"__proto__":{"url":"http://a.example/"}}',
      /__proto__|"(url|username|current|list|text)" is missing/,
    ],
    ['an unknown key', '{"nonsense":1}', /nonsense|"(url|username|current|list|text)" is missing/],
  ];
  test('POST refuses an invalid body with 400', async (t) => {
    const { app } = await build(t);
    for (const { url } of posts) {
      for (const [what, payload, message] of INVALID) {
        await t.test(`${what} at ${url}`, async () => {
          assertError(await app.inject({ method: 'POST', url, payload }), 400, message);
        });
      }
    }
  });

  test('POST says that it does not unpack a body', async (t) => {
    const { app } = await build(t);
    const payload = gzipSync('{"url":"http://a.example/"}');
    for (const { url } of posts) {
      const packed = await app.inject({ method: 'POST', url, payload, headers: { 'content-encoding': 'gzip' } });
      assertError(packed, 400, /Content-Encoding/);
    }
  });

  test('POST parses its body as JSON with any Content-Type', async (t) => {
    const { app } = await build(t, { services: failed });
    const types = [
      'application/x-www-form-urlencoded',
      'text/plain',
      'nonsense',
      '',
      ';;',
      'multipart/form-data; boundary=x',
    ];
    for (const { url, path } of posts) {
      for (const type of [...types, undefined]) {
        const headers = type === undefined ? {} : { 'content-type': type };
        const [body, status] = goodBody(path);
        const response = await app.inject({ method: 'POST', url, payload: Buffer.from(body), headers });
        if (status === 200) assert.equal(response.statusCode, status);
        else assertError(response, status, /known|match|failed|wrong|There is no/);
      }
    }
  });

  test('a body of 64 KiB is accepted, one byte more gets 413', async (t) => {
    const { app } = await build(t, { services: failed });
    for (const { url, path } of posts) {
      const [body, status] = goodBody(path);
      const padded = (length: number) => body.padEnd(length, ' ');
      assert.equal((await app.inject({ method: 'POST', url, payload: padded(65_536) })).statusCode, status);
      assertError(await app.inject({ method: 'POST', url, payload: padded(65_537) }), 413, /64 KiB/);
    }
  });
});

test('values in a body are not coerced to other types', async (t) => {
  const { app } = await build(t);
  for (const path of ['id', 'last', 'history']) {
    for (const url of [123, null, true, ['http://a.example/'], { toString: 'x' }]) {
      const response = await app.inject({ method: 'POST', url: `${BASE}/${path}`, payload: { url } });
      assertError(response, 400, /"url" must be a string/);
    }
    const extra = { url: 'http://a.example/', limit: 1 };
    assertError(await app.inject({ method: 'POST', url: `${BASE}/${path}`, payload: extra }), 400, /"limit"/);
  }
});

const UNKNOWN = [
  '/',
  '/nope',
  '/api/intel/v2/byobject/url',
  `${BASE}/`,
  `${BASE}/last/x`,
  `${BASE}//last`,
  `${BASE}/LAST`,
  `${BASE}/1`,
  `${BASE}/1/nope`,
  `${BASE}/%zz/statuses`,
  '/%',
  '/%E0%A4%A',
  '/healthz%00',
  '/healthz%2F',
  '///healthz',
  '/api//v1/login',
  `/${'x'.repeat(8000)}`,
];
test('an unknown path gets 404 with any method and any body', async (t) => {
  const { app } = await build(t);
  for (const url of UNKNOWN) {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND'] as Method[]) {
      assertError(await app.inject({ method, url, payload: '{', headers: { 'content-type': 'x' } }), 404);
    }
  }
});

test('a double slash at the beginning of the path is accepted', async (t) => {
  const { app } = await build(t);
  assert.equal((await app.inject('//healthz')).statusCode, 200);
  const payload = { url: 'http://192.0.2.1/x' };
  assertError(await app.inject({ method: 'POST', url: `/${BASE}/last`, payload }), 404, /URL is not known/);
});

describe('when the store fails', () => {
  const fail = (error: unknown) => {
    const reject = async () => {
      throw error;
    };
    const breakStream = () => ({ [Symbol.asyncIterator]: () => ({ next: reject }) });
    return stubStore({
      urlId: reject,
      urlLast: reject,
      lastOfMany: reject,
      urlHistory: reject,
      statuses: breakStream,
      payloads: breakStream,
      search: breakStream,
    });
  };
  const queries = endpoints.filter(({ url }) => url.startsWith(BASE));

  test('a defect gets 500, reveals no internals, and is logged once', async (t) => {
    for (const error of [new Error('secret'), new TypeError('secret'), null, 'secret', { statusCode: 200 }]) {
      const log: string[] = [];
      const logger = { level: 'info', stream: { write: (line: string) => void log.push(line) } };
      const { app } = await build(t, { services: { store: fail(error) }, options: { logger } });
      for (const { method, url, path } of queries) {
        log.length = 0;
        const headers = { authorization: 'Bearer hidden' };
        const payload = method === 'POST' ? { payload: goodBody(path)[0] } : {};
        const response = await app.inject({ method, url, headers, ...payload });
        assertError(response, 500);
        assert.doesNotMatch(response.body, /secret/);
        assert.equal(log.length, 1, log.join(''));
        assert.equal(JSON.parse(String(log[0])).level, 50);
        assert.doesNotMatch(String(log[0]), /hidden|a\.example/);
      }
    }
  });

  test('an unavailable store gets 503 with Retry-After', async (t) => {
    for (const [options, retryAfter] of [
      [{}, '5'],
      [{ retryAfterSeconds: 7 }, '7'],
    ] as const) {
      const store = fail(new AppError('unavailable', 'disk /secret is gone', options));
      const { app } = await build(t, { services: { store } });
      for (const { method, url, path } of queries) {
        const response = await app.inject({ method, url, ...(method === 'POST' && { payload: goodBody(path)[0] }) });
        assertError(response, 503);
        assert.equal(response.headers['retry-after'], retryAfter);
        assert.doesNotMatch(response.body, /secret/);
      }
    }
  });

  test('a query that takes too long gets 408', async (t) => {
    const never = () => new Promise<never>(() => {});
    const stream = () => ({ [Symbol.asyncIterator]: () => ({ next: never }) });
    const store = stubStore({
      urlId: never,
      urlLast: never,
      lastOfMany: never,
      urlHistory: never,
      statuses: stream,
      payloads: stream,
      search: stream,
    });
    const { app } = await build(t, { services: { store }, options: { queryBudgetMs: 5 } });
    for (const { method, url, path } of queries) {
      const payload = method === 'POST' ? { payload: goodBody(path)[0] } : {};
      assertError(await app.inject({ method, url, ...payload }), 408);
    }
  });

  test('a query leaves no timer behind, answered or failed', async (t) => {
    const found = async () => '{}';
    for (const store of [stubStore({ urlLast: found, urlHistory: found }), fail(new Error('broken'))]) {
      const { app } = await build(t, { services: { store } });
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      await app.inject('/healthz');
      const before = timers();
      for (const { method, url, path } of queries) {
        await app.inject({ method, url, ...(method === 'POST' && { payload: goodBody(path)[0] }) });
      }
      assert.equal(timers(), before);
    }
  });
});

test('errors of the client are not logged', async (t) => {
  const log: string[] = [];
  const logger = { level: 'info', stream: { write: (line: string) => void log.push(line) } };
  const { app } = await build(t, { options: { logger } });
  for (const url of UNKNOWN) await app.inject(url);
  await app.inject({ method: 'POST', url: `${BASE}/last`, payload: '{' });
  await app.inject({ method: 'POST', url: `${BASE}/last`, payload: ' '.repeat(70_000) });
  await app.inject({ method: 'POST', url: `${BASE}/last`, payload: { url: 'http://a.example/' } });
  await app.inject({ method: 'PUT', url: '/healthz' });
  assert.deepEqual(log, []);
});
