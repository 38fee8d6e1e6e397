import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import type { ConnectionTimes } from '../../src/http/connection.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { textOf } from '../metrics/text.ts';
import { assertError, BASE, serve, stubStore, until } from './build.ts';
import { customRoute, serverWith } from './custom-route.ts';
import { exchange, parseResponses } from './raw.ts';
import { connectionEvent, open, origin, reset, transportOptions } from './transport.ts';

const CLOSE = 'Host: a\r\nConnection: close\r\n';
/** A connection that has sent nothing yet gets no response: on a busy machine the first bytes arrive late after a handshake. */
const SHORT_TIMES = { requestTimeoutMs: 800, headersTimeoutMs: 400, connectionsCheckMs: 10 };

const chunked = (path: string, chunks: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;
const sized = (path: string, length: number, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`;

const REFUSED: [what: string, bytes: string, status: number][] = [
  ['text that is not HTTP', 'hello\r\n\r\n', 400],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['an unknown method', `NOPE /healthz HTTP/1.1\r\n${CLOSE}\r\n`, 400],
  ['an unknown version', `GET /healthz HTTP/9.9\r\n${CLOSE}\r\n`, 400],
  ['a blank in the path', `GET /health z HTTP/1.1\r\n${CLOSE}\r\n`, 400],
  ['a field without a colon', `GET /healthz HTTP/1.1\r\n${CLOSE}nonsense\r\n\r\n`, 400],
  ['a control character in a field', `GET /healthz HTTP/1.1\r\n${CLOSE}x: a\0b\r\n\r\n`, 400],
  ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['two Hosts', `GET /healthz HTTP/1.1\r\nHost: b\r\n${CLOSE}\r\n`, 400],
  ['two lengths', `POST ${BASE}/last HTTP/1.1\r\n${CLOSE}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{`, 400],
  ['a negative length', `POST ${BASE}/last HTTP/1.1\r\n${CLOSE}Content-Length: -1\r\n\r\n{`, 400],
  [
    'length and chunks',
    `POST ${BASE}/last HTTP/1.1\r\n${CLOSE}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`,
    400,
  ],
  ...['gzip, chunked', 'chunked, chunked', 'identity, chunked', 'x-chunked, chunked'].map(
    (coding): [string, string, number] => [
      `Transfer-Encoding: ${coding}`,
      `GET /healthz HTTP/1.1\r\n${CLOSE}Transfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`,
      400,
    ],
  ),
  ['no body and no length', `POST ${BASE}/last HTTP/1.1\r\n${CLOSE}\r\n`, 400],
  ['100-continue without a body', `POST ${BASE}/last HTTP/1.1\r\n${CLOSE}Expect: 100-continue\r\n\r\n`, 400],
  ['a broken chunk', chunked(`${BASE}/last`, 'zz\r\n{}\r\n'), 400],
  ['a long chunk extension', chunked(`${BASE}/last`, `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`), 413],
  ['headers over 16 KiB', `GET /healthz HTTP/1.1\r\n${CLOSE}x: ${'y'.repeat(16 * 1024)}\r\n\r\n`, 431],
  ['a path over 16 KiB', `GET /${'y'.repeat(16 * 1024)} HTTP/1.1\r\n${CLOSE}\r\n`, 431],
  ['an unknown expectation', `GET /healthz HTTP/1.1\r\n${CLOSE}Expect: something\r\n\r\n`, 417],
  ['CONNECT', `CONNECT a.example:443 HTTP/1.1\r\n${CLOSE}\r\n`, 404],
  ['an invalid percent escape', `GET /%zz HTTP/1.1\r\n${CLOSE}\r\n`, 404],
  ['another scheme', `GET ftp://a/healthz HTTP/1.1\r\n${CLOSE}\r\n`, 404],
];
const ACCEPTED: [what: string, bytes: string][] = [
  ['HTTP/1.0 without Host', 'GET /healthz HTTP/1.0\r\n\r\n'],
  ['headers of almost 16 KiB', `GET /healthz HTTP/1.1\r\n${CLOSE}x: ${'y'.repeat(16_200)}\r\n\r\n`],
  ['an absolute target', `GET http://b.example:80/healthz?x HTTP/1.1\r\n${CLOSE}\r\n`],
  ['an absolute target with a doubled slash', `GET http://b.example//healthz/ HTTP/1.1\r\n${CLOSE}\r\n`],
  ['an absolute target in capitals', `GET HTTP://B.EXAMPLE/healthz HTTP/1.1\r\n${CLOSE}\r\n`],
  [
    'an upgrade to WebSocket',
    'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n',
  ],
  [
    'an upgrade to HTTP/2',
    'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n',
  ],
  ['Transfer-Encoding in capitals', `GET /healthz HTTP/1.1\r\n${CLOSE}Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n`],
  ['a GET with a body', `GET /healthz HTTP/1.1\r\n${CLOSE}Content-Length: 3\r\n\r\n{{{`],
];

describe('below Fastify', () => {
  test('an invalid request gets an error response with the usual body', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    for (const [what, bytes, status] of REFUSED) {
      const { text } = await exchange(port, Buffer.from(bytes, 'latin1'));
      const responses = parseResponses(text);
      assert.equal(responses.length, 1, `${what}: ${text}`);
      for (const response of responses) assertError(response, status);
    }
  });

  test('an unusual but valid request is answered', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    for (const [what, bytes] of ACCEPTED) {
      const [response, ...more] = parseResponses((await exchange(port, bytes)).text);
      assert.deepEqual([response?.statusCode, response?.body, more], [200, '{"status":"ok"}', []], what);
    }
  });

  test('OPTIONS * returns the methods of the whole server', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    const [response] = parseResponses((await exchange(port, `OPTIONS * HTTP/1.1\r\n${CLOSE}\r\n`)).text);
    assert.deepEqual([response?.statusCode, response?.headers.allow], [204, 'GET, HEAD, POST, OPTIONS']);
  });

  test('the target * is not the path /', async (t) => {
    const app = await serverWith(t, customRoute({ path: '/' }), {}, transportOptions());
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    for (const [line, status, allow] of [
      ['OPTIONS *', 204, 'GET, HEAD, POST, OPTIONS'],
      ['OPTIONS /', 204, 'GET, HEAD, OPTIONS'],
      ['GET *', 404],
      ['GET *?', 404],
      ['POST *', 404],
      ['GET /', 200],
    ] as const) {
      const [response] = parseResponses((await exchange(port, `${line} HTTP/1.1\r\n${CLOSE}\r\n`)).text);
      assert.deepEqual([response?.statusCode, response?.headers.allow], [status, allow], line);
    }
  });

  test('the response to HEAD has no body, also when it is an error', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    for (const [path, status] of [
      ['/healthz', 200],
      ['/nope', 404],
      [`${BASE}/last`, 405],
      ['/%zz', 404],
    ]) {
      const { text } = await exchange(port, `HEAD ${path} HTTP/1.1\r\n${CLOSE}\r\n`);
      assert.ok(text.startsWith(`HTTP/1.1 ${status} `), text);
      assert.ok(text.endsWith('\r\n\r\n'), text);
    }
  });

  test('Expect: 100-continue gets 100 before the response', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    for (const [path, status] of [
      [`${BASE}/last`, 400],
      [`${BASE}/bulk`, 200],
    ]) {
      const head = `POST ${path} HTTP/1.1\r\n${CLOSE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
      const { text } = await exchange(port, `${head}{}`);
      const [first = '', ...rest] = text.split('\r\n\r\n');
      assert.equal(first, 'HTTP/1.1 100 Continue');
      assert.equal(parseResponses(rest.join('\r\n\r\n'))[0]?.statusCode, status);
    }
  });

  test('Expect: 100-continue gets no 100 in HTTP/1.0 (RFC 9110 section 10.1.1)', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    for (const [path, status] of [
      [`${BASE}/last`, 400],
      [`${BASE}/bulk`, 200],
    ]) {
      const head = `POST ${path} HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
      const { text } = await exchange(port, `${head}{}`);
      assert.ok(text.startsWith(`HTTP/1.1 ${status} `), text);
    }
  });

  test('another expectation gets 417, and the connection is closed, since the body may never be sent', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    const head = `POST ${BASE}/last HTTP/1.1\r\nHost: a\r\nExpect: foo\r\nContent-Length: 33\r\n\r\n`;
    const [response, ...others] = parseResponses((await exchange(port, head)).text);
    assertError(response as never, 417);
    assert.equal(response?.headers.connection, 'close');
    assert.deepEqual(others, []);
  });

  const EXPECTING: [what: string, path: string, length: number, status: number][] = [
    ['without a token', `${BASE}/last`, 2, 401],
    ['for an unknown path', '/nope', 2, 404],
    ['with the wrong method', `${BASE}/1/statuses`, 2, 405],
    ['for a body that is too long', '/api/v1/login', 65_537, 413],
    ['for a list that is too long', `${BASE}/bulk`, 8 * 2 ** 20 + 1, 413],
    ['with a list and a wrong parameter', `${BASE}/bulk?view=x`, 2, 400],
  ];
  for (const [what, path, length, status] of EXPECTING) {
    test(`Expect: 100-continue ${what} gets ${status} without 100, and the connection is closed`, async (t) => {
      const refuse = () => {
        throw new AppError('unauthorized', 'no token');
      };
      const services = { store: stubStore({}), ...(status === 401 && { authenticate: refuse }) };
      const { port } = await serve(t, { services });
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;
      const [response, ...others] = parseResponses((await exchange(port, head)).text);
      assertError(response as never, status);
      assert.equal(response?.headers.connection, 'close');
      assert.deepEqual(others, []);
    });
  }
});

describe('an incomplete request', () => {
  const NO_WHOLE = { ...SHORT_TIMES, headersTimeoutMs: 800 };
  const NO_HEADERS = { ...SHORT_TIMES, requestTimeoutMs: 60_000 };
  const LATE: [what: string, bytes: string, times: Partial<ConnectionTimes>][] = [
    ['half a request line', 'GET /hea', NO_HEADERS],
    ['half the headers', 'GET /healthz HTTP/1.1\r\nHost: a\r\n', NO_HEADERS],
    ['half a body', sized(`${BASE}/last`, 100, '{"url":'), NO_WHOLE],
    ['half a chunked body', chunked(`${BASE}/last`, '5\r\n{"url\r\n'), NO_WHOLE],
  ];
  test('gets 408 after the timeout', { timeout: 20_000 }, async (t) => {
    const check = async ([what, bytes, options]: (typeof LATE)[number]) => {
      const { port } = await serve(t, { services: { store: stubStore({}) }, options });
      const responses = parseResponses((await exchange(port, bytes)).text);
      assert.equal(responses.length, 1, what);
      for (const response of responses) assertError(response, 408);
    };
    await Promise.all(LATE.map(check));
  });

  test('does no harm when the client disconnects', async (t) => {
    const metrics = createMetrics();
    const { port, app } = await serve(t, { services: { store: stubStore({}) }, options: { metrics } });
    for (const [, bytes] of LATE) {
      const accepted = once(app.server, connectionEvent());
      const socket = open(port);
      const [served] = await accepted;
      const gone = new Promise((resolve) => served.once('close', resolve));
      const { bytesRead } = served;
      socket.write(bytes);
      await until(() => served.bytesRead > bytesRead);
      reset(socket);
      await gone;
    }
    assert.equal((await app.inject('/healthz')).statusCode, 200);
    assert.doesNotMatch(await textOf(metrics), /^urlwarden_http_unreadable_total\{/m);
  });
});

describe('a connection', () => {
  const HEALTH = `GET /healthz HTTP/1.1\r\n${CLOSE}\r\n`;
  const EARLY: [what: string, bytes: string, status: number][] = [
    ['an unknown path', sized('/nope', 5, 'abcde'), 404],
    ['a wrong method', sized('/healthz', 5, 'abcde'), 405],
    ['a body that is too large', sized(`${BASE}/last`, 200_000, 'x'.repeat(200_000)), 413],
    ['a chunked body that is too large', chunked(`${BASE}/last`, `30d40\r\n${'x'.repeat(200_000)}\r\n0\r\n\r\n`), 413],
    ['a body that is not JSON', sized(`${BASE}/last`, 5, 'abcde'), 400],
    ['no Host', sized(`${BASE}/last`, 5, 'abcde').replace('Host: a\r\n', ''), 400],
    ['an invalid path', sized('/%zz', 5, 'abcde'), 404],
  ];
  test('can be used for the next request after a refused body', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    for (const [what, bytes, status] of EARLY) {
      const responses = parseResponses((await exchange(port, bytes + HEALTH)).text);
      assert.deepEqual(
        responses.map(({ statusCode }) => statusCode),
        [status, 200],
        what,
      );
    }
  });

  test('gets one response only to an incomplete request', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) }, options: SHORT_TIMES });
    const broken = [
      chunked('/nope', '5\r\nabcde\r\n'), // never ends: must not get 408 as a second response
      sized('/nope', 100, 'abcde'),
      sized(`${BASE}/last`, 200_000, 'abcde'),
    ];
    const check = async (bytes: string) =>
      assert.equal(parseResponses((await exchange(port, bytes)).text).length, 1, bytes);
    await Promise.all(broken.map(check));
  });

  test('gets no second response when the rest of a refused request is invalid', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    const socket = open(port);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write(chunked('/nope', '5\r\nabcde\r\n'));
    await until(() => text.includes('\r\n\r\n{'));
    socket.write('zz\r\n');
    await new Promise((resolve) => socket.on('close', resolve));
    assert.deepEqual(
      parseResponses(text).map(({ statusCode }) => statusCode),
      [404],
    );
  });

  const BODY = '{"url":"http://a/"}';
  const SLOW_REQUEST = sized(`${BASE}/id`, BODY.length, BODY);
  /** Sends a slow request and other bytes behind it; returns the statuses of all responses. */
  async function behindSlow(t: TestContext, behind: string, options: Partial<ConnectionTimes> = {}): Promise<number[]> {
    const gate = Promise.withResolvers<null>();
    let isQueried = false;
    const urlId = () => {
      isQueried = true;
      return gate.promise;
    };
    const { port, app } = await serve(t, { services: { store: stubStore({ urlId }) }, options });
    const socket = open(port);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    const refused = Promise.race([once(app.server, 'clientError'), once(app.server, 'connect')]);
    const closed = once(socket, 'close');
    socket.write(SLOW_REQUEST + behind);
    await until(() => isQueried);
    await refused;
    assert.equal(text, '');
    gate.resolve(null);
    await closed;
    return parseResponses(text).map(({ statusCode }) => statusCode);
  }
  // On a busy machine the slow request itself needs a while to arrive.
  const LATE_TIMES = { requestTimeoutMs: 1_000, headersTimeoutMs: 500, connectionsCheckMs: 10 };
  const BEHIND: [what: string, bytes: string, statuses: number[], times?: Partial<ConnectionTimes>][] = [
    ['invalid bytes', 'nonsense\r\n\r\n', [404, 400]],
    ['a valid request and invalid bytes', `${HEALTH.replace('close', 'keep-alive')}nonsense\r\n\r\n`, [404, 200, 400]],
    ['a request whose headers are late', 'GET /healthz HTTP/1.1\r\n', [404, 408], LATE_TIMES],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', [404, 404]],
    // The client could not know to which of the two requests a response belongs, so it gets none.
    ['a request with an invalid body', chunked(`${BASE}/last`, 'zz\r\n'), []],
  ];
  test('gets its responses in order, whatever is sent behind a slow request', async (t) => {
    for (const [what, bytes, statuses, times] of BEHIND) {
      assert.deepEqual(await behindSlow(t, bytes, times), statuses, what);
    }
  });

  test('gets its error response although the client keeps sending', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    const { text, reset } = await exchange(port, `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000_000)}`);
    for (const response of parseResponses(text)) assertError(response, 431);
    assert.ok(text !== '' && !reset);
  });

  test('that does not speak HTTP is closed after a second, even if the client keeps its side open', async (t) => {
    t.after(() => t.mock.timers.reset());
    const { app, port } = await serve(t, { services: { store: stubStore({}) } });
    const accepted = once(app.server, connectionEvent());
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const socket = open(port, '127.0.0.1', { allowHalfOpen: true });
    t.after(() => socket.destroy());
    socket.on('error', () => {}).resume();
    const [served] = await accepted;
    socket.write('nonsense\r\n\r\n');
    await once(socket, 'end');
    assert.equal(served.destroyed, false, 'it still reads');
    t.mock.timers.tick(1_000);
    assert.equal(served.destroyed, true);
  });

  test('whose client has closed its side gets the response first', async (t) => {
    const authenticate = async () => {
      if (!served.readableEnded) await once(served, 'end');
      throw new AppError('unauthorized', 'no token');
    };
    const { app, port } = await serve(t, { services: { store: stubStore({}), authenticate } });
    const accepted = once(app.server, connectionEvent());
    const socket = open(port, '127.0.0.1', { allowHalfOpen: true });
    const [served] = await accepted;
    socket.end(`GET ${BASE}/1/statuses HTTP/1.1\r\nHost: a\r\n\r\n`);
    const [response] = parseResponses((await socket.toArray()).join(''));
    assertError(response as never, 401);
  });

  test('that is idle stays open longer than load balancers keep it, and the response says how long', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    const { headers } = await fetch(`${origin(port)}/healthz`);
    assert.equal(headers.get('keep-alive'), 'timeout=72');
  });

  test('that the client wants closed delivers the response first, although the client keeps sending', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({}) } });
    const body = ' '.repeat(20_000_000); // more than the kernel buffers
    for (const [path, status] of [
      ['/nope', 404],
      [`${BASE}/last`, 413],
      ['/%zz', 404],
    ] as const) {
      const head = `POST ${path} HTTP/1.1\r\n${CLOSE}Content-Length: ${body.length}\r\n\r\n`;
      const { text, reset } = await exchange(port, head + body);
      assert.deepEqual(
        parseResponses(text).map(({ statusCode }) => statusCode),
        [status],
      );
      assert.equal(reset, false);
    }
  });
});
