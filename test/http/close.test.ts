import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { closeServer, endKeepAlive } from '../../src/http/server.ts';
import { BASE, linesOf, serve, stubStore, until } from './build.ts';
import { exchange, parseResponses } from './raw.ts';
import { open, origin } from './transport.ts';

const LINE = linesOf([{ ts: 1, id: 1, url: 'http://a.example/' }]);
const search = (port: number) => fetch(`${origin(port)}${BASE}/search`, { method: 'POST', body: '{"asn":1}' });

// Less than the grace periods here: what only their end would close fails.
const SOON = { timeout: 20_000 };

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('after the end of keep-alive', () => {
  for (const [what, bytes, status] of [
    ['JSON', get('/healthz'), 200],
    ['a stream', post(`${BASE}/search`, '{"asn":1}'), 200],
    ['not found', post(`${BASE}/last`, '{"url":"http://a/"}'), 404],
    ['an unknown path', get('/nowhere'), 404],
    ['a path that is not valid', get('/%zz'), 404],
    ['a wrong method', post('/healthz', ''), 405],
    ['a body that is too large', post(`${BASE}/last`, ' '.repeat(70_000)), 413],
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
    ['no HTTP', 'nonsense\r\n\r\n', 400],
    ['another expectation', 'GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n', 417],
    ['100-continue', get('/healthz').replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n'), 200],
    ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', 200],
  ] as const) {
    test(`the response to a new connection has Connection: close: ${what}`, SOON, async (t) => {
      const store = stubStore({
        async *search() {
          yield LINE;
        },
      });
      const { app, port } = await serve(t, { services: { store } });
      endKeepAlive(app);
      const { text, reset } = await exchange(port, bytes);
      const responses = parseResponses(text).map(({ statusCode, headers }) => [statusCode, headers.connection]);
      assert.deepEqual([responses, reset], [[[status, 'close']], false]);
    });
  }

  test('a response in progress has it too, and so has the next one on a connection that was idle', SOON, async (t) => {
    const gate = Promise.withResolvers<null>();
    const { app, port } = await serve(t, { services: { store: stubStore({ urlId: () => gate.promise }) } });
    const [busy, idle] = [open(port), open(port)];
    const texts = { busy: '', idle: '' };
    busy.on('data', (chunk) => {
      texts.busy += chunk;
    });
    idle.on('data', (chunk) => {
      texts.idle += chunk;
    });
    idle.write(get('/healthz'));
    await until(() => texts.idle.endsWith('}'));
    const arrived = once(app.server, 'request');
    busy.write(post(`${BASE}/id`, '{"url":"http://a/"}'));
    await arrived;
    endKeepAlive(app);
    gate.resolve(null);
    idle.write(get('/healthz'));
    await Promise.all([once(busy, 'close'), once(idle, 'close')]);
    assert.deepEqual(
      [texts.busy, texts.idle].map((text) => parseResponses(text).map(({ headers }) => headers.connection)),
      [['close'], ['keep-alive', 'close']],
    );
  });

  test('of pipelined responses only the last one has it, so that all are sent', SOON, async (t) => {
    const { app, port } = await serve(t, { services: { store: stubStore({}) } });
    endKeepAlive(app);
    const { text } = await exchange(port, get('/healthz') + get('/nowhere') + get('/healthz'));
    assert.deepEqual(
      parseResponses(text).map(({ statusCode, headers }) => [statusCode, headers.connection]),
      [
        [200, 'keep-alive'],
        [404, 'keep-alive'],
        [200, 'close'],
      ],
    );
  });

  test('a client that still sends a body gets the response before the connection closes', SOON, async (t) => {
    const { app, port } = await serve(t, { services: { store: stubStore({}) } });
    endKeepAlive(app);
    const { text, reset } = await exchange(port, post('/nowhere', ' '.repeat(20_000_000))); // more than the kernel buffers
    const responses = parseResponses(text).map(({ statusCode, headers }) => [statusCode, headers.connection]);
    assert.deepEqual([responses, reset], [[[404, 'close']], false]);
  });
});

/**
 * Connects 100 times to the port and sends a request each time. Sets `sent[0]` when all requests are in the kernel, then
 * posts how many of them were answered.
 */
const CLIENTS = `
  const { parentPort, workerData: { port, sent } } = require('node:worker_threads');
  const { connect } = require('node:net');
  let waiting = 100;
  let answered = 0;
  const written = () => {
    waiting -= 1;
    if (waiting > 0) return;
    Atomics.store(sent, 0, 1);
    Atomics.notify(sent, 0);
  };
  const responses = Array.from({ length: waiting }, () => new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /healthz HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', written);
    socket.on('data', (chunk) => { answered += String(chunk).startsWith('HTTP/1.1 200') ? 1 : 0; });
    socket.on('error', () => {});
    socket.on('close', resolve);
  }));
  Promise.all(responses).then(() => parentPort.postMessage(answered));
`;

describe('closing', () => {
  test('answers what the kernel has received but the server has not read yet', SOON, async (t) => {
    // The clients use plain HTTP: with TLS, requests are not sent before the handshake, which needs this thread.
    const { app, port } = await serve(t, { services: { store: stubStore({}) }, options: { tls: undefined } });
    const sent = new Int32Array(new SharedArrayBuffer(4));
    const clients = new Worker(CLIENTS, { eval: true, workerData: { port, sent } });
    t.after(() => clients.terminate());
    const answered = once(clients, 'message');
    await once(clients, 'online');
    assert.notEqual(Atomics.wait(sent, 0, 0, 10_000), 'timed-out'); // this thread reads nothing meanwhile
    endKeepAlive(app);
    await closeServer(app, 60_000);
    assert.deepEqual(await answered, [100]);
  });

  test('waits for a response in progress, and accepts no new connection', SOON, async (t) => {
    const gate = Promise.withResolvers<void>();
    const store = stubStore({
      async *search() {
        yield LINE;
        await gate.promise;
        yield LINE;
      },
    });
    const { app, port } = await serve(t, { services: { store } });
    const response = await search(port);
    const closed = closeServer(app, 60_000);
    await until(() => !app.server.listening);
    await assert.rejects(search(port));
    gate.resolve();
    assert.equal((await response.text()).split('\n').length, 3);
    await closed;
  });

  test('answers a late request on a busy connection, then closes the connection', SOON, async (t) => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()];
    const store = stubStore({
      async *search() {
        yield LINE;
        await first.promise;
      },
      urlId: () => second.promise,
    });
    const { app, port } = await serve(t, { services: { store } });
    const socket = open(port);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write(`POST ${BASE}/search HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"asn":1}`);
    await until(() => text !== '');
    const closed = closeServer(app, 60_000);
    await until(() => !app.server.listening);
    const arrived = once(app.server, 'request');
    socket.write(`POST ${BASE}/id HTTP/1.1\r\nHost: a\r\nContent-Length: 19\r\n\r\n{"url":"http://a/"}`);
    await arrived;
    first.resolve();
    await until(() => text.endsWith('\r\n0\r\n\r\n'));
    second.resolve(null);
    await Promise.all([closed, once(socket, 'close')]);
    const [, late] = parseResponses(text);
    assert.deepEqual([late?.statusCode, late?.headers.connection], [404, 'close']);
  });

  test('closes idle connections immediately', { timeout: 10_000 }, async (t) => {
    t.after(() => t.mock.timers.reset());
    const { app, port } = await serve(t, { services: { store: stubStore({}) } });
    const socket = open(port);
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    t.mock.timers.enable({ apis: ['setTimeout'] }); // so that closing after a while would be never
    await Promise.all([closeServer(app, 60_000), once(socket, 'close')]);
  });

  test('aborts a response that takes longer than the grace period, and its client sees an error', async (t) => {
    let aborted = false;
    const store = stubStore({
      async *search(_key, _window, { signal }) {
        yield LINE;
        await once(signal, 'abort');
        aborted = true;
      },
    });
    const { app, port } = await serve(t, { services: { store } });
    const response = await search(port);
    await Promise.all([closeServer(app, 20), assert.rejects(response.text())]);
    await until(() => aborted);
  });
});
