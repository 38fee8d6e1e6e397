import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AuthenticationError,
  BadRequestError,
  LimitReachedError,
  TruncatedStreamError,
  UnavailableError,
  UrlwardenClient,
  UrlwardenError,
} from '../../src/client/index.ts';
import { deadUrl } from '../example-runs.ts';
import { until } from '../http/build.ts';
import { type Received, sendError, sendJson, sendLines, startScripted } from './scripted-server.ts';

const TOKEN = { token: 'a-token' };
const ACCOUNT = { username: 'ada@example.com', password: 'a secret' };
const LAST = { id: 1, url: 'http://example.com/', status: null, payload: null };
const isLogin = ({ path }: Received) => path === '/api/v1/login';

test('errors of the network, 408 and 503 are tried again', async (t) => {
  const { baseUrl, received } = await startScripted(t, (response, _request, count) => {
    if (count === 1) response.destroy();
    else if (count === 2) sendError(response, 503, 'not now');
    else if (count === 3) sendError(response, 408, 'too slow');
    else if (count === 4) response.writeHead(200, { 'content-length': '50' }).write('{"id":', () => response.destroy());
    else sendJson(response, 200, LAST);
  });
  assert.deepEqual(await new UrlwardenClient({ baseUrl, ...TOKEN }).url.last('x'), LAST);
  assert.equal(received.length, 5);
});

test('Retry-After is waited for, as seconds and as a date', async (t) => {
  const times: number[] = [];
  const { baseUrl } = await startScripted(t, (response, _request, count) => {
    times.push(Date.now());
    const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000).toUTCString();
    if (count === 1) sendError(response, 429, 'The limit rl_qps is reached', { 'retry-after': '1' });
    else if (count === 2) sendError(response, 503, 'not now', { 'retry-after': date });
    else sendJson(response, 200, LAST);
  });
  await new UrlwardenClient({ baseUrl, ...TOKEN }).url.last('x');
  const [first = 0, second = 0, third = 0] = times;
  assert.ok(second - first >= 990 && second - first < 3000);
  assert.ok(third - second >= 990 && third - second < 4000);
});

test('a wait that is longer than the deadline is not begun', async (t) => {
  const { baseUrl, received } = await startScripted(t, (response) =>
    sendError(response, 503, 'not now', { 'retry-after': '60' }),
  );
  const startMs = Date.now();
  await assert.rejects(new UrlwardenClient({ baseUrl, ...TOKEN }).url.last('x'), (error) => {
    assert.ok(error instanceof UnavailableError);
    assert.deepEqual([error.status, error.code, error.message, error.retryAfterSeconds], [503, 503, 'not now', 60]);
    return true;
  });
  assert.ok(Date.now() - startMs < 5000);
  assert.equal(received.length, 1);
});

test('the deadline holds for a server that is silent, refuses connections or fails for ever', async (t) => {
  const silent = await startScripted(t, () => {});
  const failing = await startScripted(t, (response) => sendError(response, 503, 'not now', { 'retry-after': '0' }));
  for (const baseUrl of [silent.baseUrl, failing.baseUrl, await deadUrl()]) {
    const client = new UrlwardenClient({ baseUrl, ...TOKEN, deadlineSeconds: 0.5 });
    const startMs = Date.now();
    await assert.rejects(client.url.last('x'), UnavailableError);
    assert.ok(Date.now() - startMs < 3000);
  }
  assert.ok(failing.received.length < 20, 'the waits grow even without Retry-After');
});

test('the deadline hides no reason, also of a login', async (t) => {
  const second = { deadlineSeconds: 1 };
  for (const account of [ACCOUNT, TOKEN]) {
    const refused = new UrlwardenClient({ baseUrl: await deadUrl(), ...account, ...second }).url.last('x');
    await assert.rejects(refused, (error: Error) => {
      assert.match(error.message, /cannot be reached: ECONNREFUSED/);
      assert.ok(error.cause instanceof TypeError);
      return true;
    });
    // Fails once and is silent from then on.
    const { baseUrl } = await startScripted(t, (response, _request, count) => {
      if (count === 1) sendError(response, 503, 'not now');
    });
    await assert.rejects(new UrlwardenClient({ baseUrl, ...account, ...second }).url.last('x'), /not now/);
    const silent = await startScripted(t, () => {});
    const client = new UrlwardenClient({ baseUrl: silent.baseUrl, ...account, ...second });
    await assert.rejects(client.url.last('x'), /did not answer within 1 s/);
  }
});

test('a deadline may be longer than a timer can wait', { timeout: 30_000 }, async (t) => {
  const { baseUrl } = await startScripted(t, (response) => setTimeout(() => sendJson(response, 200, LAST), 50));
  for (const deadlineSeconds of [2_147_484, Number.MAX_VALUE, Number.POSITIVE_INFINITY]) {
    const client = new UrlwardenClient({ baseUrl, ...TOKEN, deadlineSeconds });
    assert.deepEqual(await client.url.last('x'), LAST, `${deadlineSeconds}`);
  }
  for (const deadlineSeconds of [0, -1, Number.NaN])
    assert.throws(() => new UrlwardenClient({ baseUrl, ...TOKEN, deadlineSeconds }), /deadlineSeconds/);
});

test('a wait may be longer than a timer can wait', { timeout: 30_000 }, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    const headers = { 'retry-after': '3000000' };
    return requests === 1
      ? Response.json({ code: 503, message: 'not now' }, { status: 503, headers })
      : Response.json(LAST);
  };
  const options = { baseUrl: 'http://example.com', fetch, ...TOKEN, deadlineSeconds: Number.POSITIVE_INFINITY };
  const last = new UrlwardenClient(options).url.last('x');
  /** The promises of the client continue. */
  const settle = () => new Promise(setImmediate);
  await settle();
  t.mock.timers.tick(2 ** 31 - 1);
  await settle();
  assert.equal(requests, 1);
  t.mock.timers.tick(3_000_000_000 - (2 ** 31 - 1));
  assert.deepEqual(await last, LAST);
  assert.equal(requests, 2);
});

test('other errors are thrown at once', async (t) => {
  const refusals = [
    [500, 'Internal server error', UnavailableError],
    [400, 'url: no', BadRequestError],
    [413, 'too large', BadRequestError],
    [429, 'The limit qmh is reached (1 per month)', LimitReachedError],
  ] as const;
  for (const [status, message, type] of refusals) {
    const { baseUrl, received } = await startScripted(t, (response) =>
      sendError(response, status, message, { 'retry-after': '1' }),
    );
    await assert.rejects(new UrlwardenClient({ baseUrl, ...TOKEN }).url.last('x'), type);
    assert.equal(received.length, 1, message);
  }
});

test('the response of another server never looks like an unknown URL', async (t) => {
  const { baseUrl, received } = await startScripted(t, (response, { path }) => {
    if (path.startsWith('/html')) response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello');
    else if (path.startsWith('/moved')) response.writeHead(302, { location: '/elsewhere' }).end();
    else if (path.startsWith('/path')) sendError(response, 404, 'This path does not exist');
    else response.writeHead(404).end('<p>not here');
  });
  for (const place of ['/html', '/moved', '/path', '/none']) {
    const client = new UrlwardenClient({ baseUrl: baseUrl + place, ...TOKEN });
    await assert.rejects(client.url.last('x'), UrlwardenError, place);
    await assert.rejects(client.address.listed('192.0.2.1'), UrlwardenError, place);
    await assert.rejects(client.url.search({ ip: '192.0.2.1' }).next(), UrlwardenError, place);
  }
  assert.ok(!received.some(({ path }) => path === '/elsewhere'), 'redirects are not followed');
});

for (const text of ['null', '{}', '"ok"', '[]']) {
  test(`the JSON ${text} of another server never looks like an unknown URL, address or domain`, async (t) => {
    const { baseUrl, received } = await startScripted(t, (response, { path }) => {
      const type = /bulk|search/.test(path) ? 'application/x-ndjson' : 'application/json';
      response.writeHead(200, { 'content-type': type }).end(`${text}\n`);
    });
    const { url, address, domain } = new UrlwardenClient({ baseUrl, ...TOKEN });
    const isOther = { name: 'UrlwardenError', status: 200, message: /is not one of Urlwarden; check baseUrl$/ };
    const calls = [
      () => url.id('x'),
      () => url.last('x'),
      () => url.history('x'),
      () => address.listed('192.0.2.1'),
      () => domain.get('site.example'),
      () => domain.listing('site.example'),
    ];
    const streams = [() => url.search({ ip: '192.0.2.1' }).next(), () => url.bulk(['x']).next()];
    const isObject = typeof JSON.parse(text) === 'object' && text !== 'null';
    for (const call of isObject ? calls : [...calls, ...streams]) await assert.rejects(call, isOther, String(call));
    received.length = 0;
    await assert.rejects(new UrlwardenClient({ baseUrl, ...ACCOUNT }).url.last('x'), isOther);
    assert.deepEqual(received.map(isLogin), [true], 'one login, and no call without a token');
  });
}

test('a login is renewed when a tenth of its life is left, and calls do not wait for it', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
  let logins = 0;
  const { baseUrl, received } = await startScripted(t, (response, request) => {
    if (!isLogin(request)) return sendJson(response, 200, LAST);
    logins += 1;
    const expires = 1_800_000_000 + 86_400 * logins;
    // The clock of the server decides, so that one that is wrong here does no harm.
    sendJson(response, 200, { token: `token-${logins}`, expires }, { date: new Date(Date.now()).toUTCString() });
  });
  const client = new UrlwardenClient({ baseUrl, ...ACCOUNT });
  const usedFor = async () => {
    await client.url.last('x');
    return received.findLast((request) => !isLogin(request))?.authorization;
  };
  assert.equal(await usedFor(), 'Bearer token-1');
  t.mock.timers.setTime(1_800_000_000_000 + 0.89 * 86_400_000);
  assert.equal(await usedFor(), 'Bearer token-1');
  assert.equal(logins, 1);
  t.mock.timers.setTime(1_800_000_000_000 + 0.91 * 86_400_000);
  assert.equal(await usedFor(), 'Bearer token-1', 'this call starts the login and does not wait');
  let used: string | undefined;
  do used = await usedFor();
  while (used === 'Bearer token-1');
  assert.equal(used, 'Bearer token-2');
  assert.equal(logins, 2);
  t.mock.timers.setTime(1_800_000_000_000 + 5 * 86_400_000);
  assert.equal(await usedFor(), 'Bearer token-3', 'no call is sent with a token that has expired');
});

test('a token that is refused twice is thrown, and a given token is not renewed', async (t) => {
  const { baseUrl, received } = await startScripted(t, (response, request) => {
    if (isLogin(request)) sendJson(response, 200, { code: 200, token: 'same', expires: 0 });
    else sendError(response, 401, 'The token is revoked');
  });
  await assert.rejects(new UrlwardenClient({ baseUrl, ...ACCOUNT }).url.last('x'), AuthenticationError);
  assert.equal(received.filter(isLogin).length, 2);
  assert.equal(received.length, 4);
  await assert.rejects(new UrlwardenClient({ baseUrl, ...TOKEN }).url.last('x'), AuthenticationError);
  assert.equal(received.length, 5);
});

test('a late refusal of an old token leads to no further login', async (t) => {
  let refuseLate = () => {};
  const { baseUrl, received } = await startScripted(t, (response, request) => {
    const logins = received.filter(isLogin).length;
    const refuse = () => sendError(response, 401, 'The token has expired');
    if (isLogin(request)) sendJson(response, 200, { code: 200, token: `token-${logins}`, expires: 0 });
    else if (request.authorization === 'Bearer token-2') sendJson(response, 200, LAST);
    else if (request.body.includes('late')) refuseLate = refuse;
    else refuse();
  });
  const client = new UrlwardenClient({ baseUrl, ...ACCOUNT });
  const late = client.url.last('late');
  await until(() => received.length === 2);
  await client.url.last('x');
  refuseLate();
  assert.deepEqual(await late, LAST);
  assert.equal(received.filter(isLogin).length, 2);
});

test('a stream that ends in the middle of a line throws', async (t) => {
  const { baseUrl } = await startScripted(t, (response) =>
    sendLines(response, [{ ts: 1, id: 1, url: 'http://example.com/' }], '{"ts":2'),
  );
  const stream = new UrlwardenClient({ baseUrl, ...TOKEN }).url.search({ ip: '192.0.2.1' });
  assert.equal((await stream.next()).value?.ts, 1);
  await assert.rejects(stream.next(), TruncatedStreamError);
});

test('a signal ends every kind of wait, with its reason', async (t) => {
  const { baseUrl } = await startScripted(t, (response, request) => {
    if (request.path.endsWith('/last')) sendError(response, 503, 'not now', { 'retry-after': '20' });
  });
  const reason = new Error('no longer needed');
  const calls = [
    (signal: AbortSignal) => new UrlwardenClient({ baseUrl, ...TOKEN }).url.last('x', { signal }), // waits to retry
    (signal: AbortSignal) => new UrlwardenClient({ baseUrl, ...TOKEN }).limits({ signal }), // waits for the response
    (signal: AbortSignal) => new UrlwardenClient({ baseUrl, ...TOKEN }).url.bulk(['x'], { signal }).next(),
    (signal: AbortSignal) => new UrlwardenClient({ baseUrl, ...ACCOUNT }).domain.get('example.com', { signal }), // login
  ];
  for (const call of calls) {
    const controller = new AbortController();
    const failed = assert.rejects(call(controller.signal), reason);
    setTimeout(() => controller.abort(reason), 100);
    await failed;
    await assert.rejects(call(AbortSignal.abort(reason)), reason);
  }
});
