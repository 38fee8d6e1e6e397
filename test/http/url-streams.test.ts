import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { ObservationInput } from '../../src/core/observation.ts';
import { assertError, BASE, build, DAY, lines, NOW, stubStore } from './build.ts';

const SHA = 'AB'.repeat(32);
const BUSY_SHA = 'ef'.repeat(32);
const YEAR = 365 * DAY; // 2025 has no 29 February

const OBSERVATIONS: ObservationInput[] = [
  { ts: NOW - 3 * YEAR, url: 'http://old.example/', ip: '198.51.100.1', asn: 64500 },
  { ts: NOW - YEAR, url: 'http://edge.example/', status: 'online' },
  { ts: NOW - DAY, url: 'http://edge.example/', status: 'offline' },
  { ts: NOW, url: 'http://edge.example/', status: 'online' },
  {
    ts: NOW - DAY,
    url: 'http://a.example/x',
    ip: ['192.0.2.1', '2001:db8::1'],
    payload: { sha256: SHA, family: 'Mirai' },
  },
  { ts: NOW - DAY, url: 'http://a.example/y', ip: '192.0.2.77', asn: 64501 },
  { ts: NOW - DAY, url: 'http://bücher.example/', status: 'online' },
  ...Array.from({ length: 1100 }, (_, i): ObservationInput => {
    const status = i % 2 === 0 ? 'online' : 'offline';
    return { ts: NOW - 1100 + i, url: 'http://busy.example/', status, payload: { fileSize: i, sha256: BUSY_SHA } };
  }),
];

type Line = { ts: number; url?: string };

async function idOf(app: FastifyInstance, url: string): Promise<number> {
  return (await app.inject({ method: 'POST', url: `${BASE}/id`, payload: { url } })).json().id;
}

async function read(app: FastifyInstance, path: string): Promise<number[]> {
  const response = await app.inject(`${BASE}/${path}`);
  assert.equal(response.statusCode, 200, response.body);
  assert.equal(response.headers['content-type'], 'application/x-ndjson');
  return (lines(response.body) as Line[]).map(({ ts }) => ts);
}

const search = (app: FastifyInstance, payload: object, query = '') =>
  app.inject({ method: 'POST', url: `${BASE}/search${query}`, payload });

describe('statuses and payloads', () => {
  test('the default window is the last twelve months, both ends included', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    const id = await idOf(app, 'http://edge.example/');
    assert.deepEqual(await read(app, `${id}/statuses`), [NOW, NOW - DAY, NOW - YEAR]);
    assert.deepEqual(await read(app, `${id}/statuses?since=${NOW - DAY}&until=${NOW - DAY}`), [NOW - DAY]);
    assert.deepEqual(await read(app, `${id}/statuses?since=${NOW - DAY + 1}&until=${NOW - 1}`), []);
    assert.deepEqual(await read(app, `${id}/statuses?until=${Number.MAX_SAFE_INTEGER}&since=0&limit=1`), [NOW]);
  });

  test('a window in the future or before all records is empty; since after until is refused', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    const id = await idOf(app, 'http://edge.example/');
    assert.deepEqual(await read(app, `${id}/statuses?since=${NOW + 60}`), []);
    assert.deepEqual(await read(app, `${id}/statuses?until=1`), []);
    assertError(await app.inject(`${BASE}/${id}/statuses?since=2&until=1`), 400, /since/);
  });

  test('a known URLID without records gets an empty 200, an unknown one 404', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    const id = await idOf(app, 'http://old.example/');
    for (const path of ['statuses', 'payloads']) {
      assert.deepEqual(await read(app, `${id}/${path}`), []);
      assertError(await app.inject(`${BASE}/${Number.MAX_SAFE_INTEGER}/${path}`), 404);
    }
  });

  test('the default limit is 1000, and the newest records come first', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    const id = await idOf(app, 'http://busy.example/');
    for (const path of ['statuses', 'payloads']) {
      const newest = (count: number) => Array.from({ length: count }, (_, i) => NOW - 1 - i);
      assert.deepEqual(await read(app, `${id}/${path}`), newest(1000));
      assert.deepEqual(await read(app, `${id}/${path}?limit=7`), newest(7));
      assert.deepEqual(await read(app, `${id}/${path}?limit=${Number.MAX_SAFE_INTEGER}`), newest(1100));
    }
  });

  test('payloads ignores since and until, also invalid ones', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    const id = await idOf(app, 'http://a.example/x');
    assert.deepEqual(await read(app, `${id}/payloads?since=x&until=-1&since=y`), [NOW - DAY]);
    assertError(await app.inject(`${BASE}/${id}/payloads?limit=x`), 400, /limit/);
  });

  test('records have all keys', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    const id = await idOf(app, 'http://a.example/x');
    const [event] = lines((await app.inject(`${BASE}/${id}/statuses`)).body);
    assert.deepEqual(event, { ts: NOW - DAY, status: 'added', removal: '', reporter: '' });
    const [payload] = lines((await app.inject(`${BASE}/${id}/payloads`)).body);
    assert.deepEqual(payload, {
      ts: NOW - DAY,
      mime_type: null,
      file_type: null,
      file_ext: null,
      file_size: null,
      file_name: null,
      sha256_hash: SHA.toLowerCase(),
      'malware-family': 'Mirai',
    });
  });

  test('HEAD gets the headers of GET without the body', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    const id = await idOf(app, 'http://busy.example/');
    const head = await app.inject({ method: 'HEAD', url: `${BASE}/${id}/statuses` });
    assert.equal(head.statusCode, 200);
    assert.equal(head.headers['content-type'], 'application/x-ndjson');
    assert.equal(head.body, '');
    const unknown = await app.inject({ method: 'HEAD', url: `${BASE}/999999/statuses` });
    assert.deepEqual([unknown.statusCode, unknown.body], [404, '']);
  });

  const NOT_URLIDS = [
    '0',
    '01',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x1',
    'abc',
    '%20',
    ' 1',
    '９',
    '9007199254740992',
    '1%2F2',
  ];
  test('a path with an invalid URLID gets 404', async (t) => {
    const { app } = await build(t, { services: { store: stubStore({ hasUrl: async () => true }) } });
    for (const id of [...NOT_URLIDS, '1'.repeat(400)]) {
      for (const path of ['statuses', 'payloads']) {
        assertError(await app.inject(encodeURI(`${BASE}/${id}/${path}`).replaceAll('%25', '%')), 404);
      }
    }
  });

  test('paths are decoded per segment, and a slash at the end is accepted', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    const id = await idOf(app, 'http://edge.example/');
    const encoded = [...String(id)].map((digit) => `%3${digit}`).join('');
    assert.equal((await read(app, `${encoded}/%73tatuses/`)).length, 3);
  });
});

describe('search', () => {
  const a = ['http://a.example/x', 'http://a.example/y'];
  const found: [body: object, urls: string[]][] = [
    [{ ip: '192.0.2.1' }, ['http://a.example/x']],
    [{ ip: '192.0.2.0/24' }, a],
    [{ ip: '::ffff:192.0.2.0/120' }, a],
    [{ ip: '2001:DB8::/32' }, ['http://a.example/x']],
    [{ host: 'A.example' }, a],
    [{ host: 'bücher.example' }, ['http://xn--bcher-kva.example/']],
    [{ asn: 64501 }, ['http://a.example/y']],
    [{ asn: '64501' }, ['http://a.example/y']],
    [{ asn: 'as64501' }, ['http://a.example/y']],
    [{ malware_family: 'mIRAI' }, ['http://a.example/x']],
    [{ sha256: SHA }, ['http://a.example/x']],
    [{ sha256: BUSY_SHA }, Array(1100).fill('http://busy.example/')],
  ];
  test('finds by every key, one record per fact', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    for (const [body, urls] of found) {
      const response = await search(app, body);
      assert.equal(response.statusCode, 200, response.body);
      assert.equal(response.headers['content-type'], 'application/x-ndjson');
      const records = lines(response.body) as Line[];
      assert.deepEqual(records.map(({ url }) => url).sort(), urls, JSON.stringify(body));
      for (const record of records) assert.deepEqual(Object.keys(record), ['ts', 'id', 'url']);
    }
  });

  test('gets 404 when nothing in the window matches', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    assertError(await search(app, { asn: 64500 }), 404);
    assert.equal(lines((await search(app, { asn: 64500 }, '?since=0')).body).length, 1);
    assertError(await search(app, { host: 'example' }), 404);
    assertError(await search(app, { host: 'a.example' }, `?since=${NOW + 1}`), 404);
    assertError(await search(app, { ip: '192.0.2.1' }, `?since=0&until=${NOW - 2 * DAY}`), 404);
    assert.equal((await search(app, { ip: '192.0.2.1' }, `?since=0&until=${Number.MAX_SAFE_INTEGER}`)).statusCode, 200);
  });

  test('has no default limit', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    assert.equal(lines((await search(app, { host: 'busy.example' })).body).length, 1100);
    assert.equal(lines((await search(app, { host: 'busy.example' }, '?limit=501')).body).length, 501);
    assertError(await search(app, { host: 'busy.example' }, '?limit=0'), 400, /limit/);
  });

  const refused: [body: unknown, message: RegExp][] = [
    [{}, /exactly one of ip, host, asn, malware_family, sha256/],
    [{ ip: '192.0.2.1', host: 'a.example' }, /exactly one of/],
    [{ 'malware-family': 'Mirai' }, /malware-family/],
    [{ ip: '192.0.2.300' }, /ip/],
    [{ ip: 1 }, /ip/],
    [{ ip: null }, /ip/],
    [{ host: 'http://a.example/' }, /host/],
    [{ asn: -1 }, /asn/],
    [{ asn: 4_294_967_296 }, /asn/],
    [{ asn: 1.5 }, /asn/],
    [{ asn: true }, /asn/],
    [{ asn: 'AS' }, /asn/],
    [{ malware_family: '' }, /malware_family/],
    [{ malware_family: 'x'.repeat(129) }, /malware_family/],
    [{ malware_family: 5 }, /malware_family/],
    [{ sha256: 'ab' }, /sha256/],
    [{ sha256: ['ab'.repeat(32)] }, /sha256/],
  ];
  test('names a key that is missing, duplicate, unknown or invalid', async (t) => {
    const { app } = await build(t);
    for (const [body, message] of refused) assertError(await search(app, body as object), 400, message);
  });
});

describe('since, until and limit', () => {
  const BAD = [
    '',
    'x',
    '-1',
    '+1',
    '01',
    '00',
    '1.0',
    '1e3',
    '0x10',
    '%201',
    '1%20',
    '9007199254740992',
    '1'.repeat(99),
  ];
  const PATHS = ['search', '1/statuses'];
  test('accept only decimal integers, and each parameter once', async (t) => {
    const { app } = await build(t);
    for (const path of PATHS) {
      const method = path === 'search' ? ('POST' as const) : ('GET' as const);
      const send = (query: string) =>
        app.inject({ method, url: `${BASE}/${path}?${query}`, ...(method === 'POST' && { payload: { asn: 1 } }) });
      for (const name of ['since', 'until', 'limit']) {
        for (const bad of BAD) assertError(await send(`${name}=${bad}`), 400, new RegExp(name));
        assertError(await send(`${name}`), 400, new RegExp(name));
        assertError(await send(`${name}=1&${name}=1`), 400, new RegExp(`${name}.*once`));
        assertError(await send(`${name}=${Number.MAX_SAFE_INTEGER}`), 404);
      }
      assertError(await send('limit=0'), 400, /limit/);
      assertError(await send('since=0&until=0'), 404);
      assertError(await send('unknown=1&unknown=2&Since=x&__proto__=1&constructor=x'), 404);
    }
  });
});
