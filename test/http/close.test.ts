import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { closeServer } from '../../src/http/server.ts';
import { BASE, linesOf, serve, stubStore, until } from './build.ts';
import { parseAnswers } from './raw.ts';
import { open, origin } from './transport.ts';

const LINE = linesOf([{ ts: 1, id: 1, url: 'http://a.example/' }]);
const search = (port: number) => fetch(`${origin(port)}${BASE}/search`, { method: 'POST', body: '{"asn":1}' });

// Less than the grace periods here: what only their end would close fails.
const SOON = { timeout: 20_000 };

describe('closing', () => {
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
    const [, late] = parseAnswers(text);
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
