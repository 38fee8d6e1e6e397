import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Intelligence } from '../../src/app/stores.ts';
import { liveBytes } from '../live-bytes.ts';
import { OPERATOR } from './admit-all.ts';
import { assertError, BASE, build, linesOf, serve, settled, stubStore, until } from './build.ts';
import { exchange, parseResponses } from './raw.ts';
import { connectionEvent, open, origin } from './transport.ts';
import { FACTS, PAGE, SEARCH, watchedSearch } from './watched-search.ts';

const PAGE_BYTES = PAGE.length;

const SEARCH_BYTES = `POST ${BASE}/search HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"asn":1}`;

const LAST_SEARCH_BYTES = SEARCH_BYTES.replace('Host: a', 'Host: a\r\nConnection: close');
const HOUR_MS = 3_600_000;

/** All that came so far. */
function textOf(socket: Socket): () => string {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  return () => text;
}

const bodiesOf = (text: string) => parseResponses(text).map(({ body }) => body);

async function* endless(signal: AbortSignal): AsyncGenerator<string> {
  for (;;) {
    signal.throwIfAborted();
    yield PAGE;
  }
}

/** Opens a stream and reads nothing from it. */
async function stalledReader(port: number): Promise<Socket> {
  const socket = open(port);
  await once(socket, 'connect');
  socket.pause();
  socket.write(SEARCH_BYTES);
  return socket;
}

describe('a stream', () => {
  test('is read from the store only as fast as the client reads', async (t) => {
    const { seen, store } = watchedSearch(endless);
    const { port } = await serve(t, { services: { store } });
    const socket = await stalledReader(port);
    const pulled = await settled(() => seen.pages);
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    socket.resume();
    await until(() => received > 3 * pulled * PAGE_BYTES);
    // Pages that were pulled but not received are in the kernel. The process buffers none of them.
    socket.pause();
    await settled(() => seen.pages);
    assert.equal(seen.closed, false);
    socket.destroy();
    await until(() => seen.closed);
  });

  test('needs the same memory for any length', async (t) => {
    const { seen, store } = watchedSearch(endless);
    const { port } = await serve(t, { services: { store } });
    const response = await fetch(`${origin(port)}${BASE}/search`, { method: 'POST', body: '{"asn":1}' });
    const reader = response.body?.getReader();
    assert.ok(reader);
    const beforeBytes = liveBytes();
    let received = 0;
    let growth = 0;
    for (let measureAt = 0; received < 60_000_000; ) {
      received += (await reader.read()).value?.length ?? 0;
      if (received < measureAt) continue;
      growth = Math.max(growth, liveBytes() - beforeBytes);
      measureAt = received + 5_000_000;
    }
    await reader.cancel();
    await until(() => seen.closed);
    assert.ok(
      growth < 40_000_000,
      `${Math.round(growth / 1e6)} MB more in a stream of ${Math.round(received / 1e6)} MB`,
    );
  });

  test('lets the event loop run between two pages', async (t) => {
    let iteration = 0;
    let timer: NodeJS.Immediate;
    const count = () => {
      iteration += 1;
      timer = setImmediate(count);
    };
    count();
    t.after(() => clearImmediate(timer));
    const iterations: number[] = [];
    const { store } = watchedSearch(async function* () {
      for (let i = 0; i < 20; i += 1) {
        iterations.push(iteration);
        yield linesOf(FACTS.slice(0, 1));
      }
    });
    const { port } = await serve(t, { services: { store } });
    const response = await fetch(`${origin(port)}${BASE}/search`, { method: 'POST', body: '{"asn":1}' });
    assert.equal((await response.text()).split('\n').length, 21);
    assert.equal(new Set(iterations).size, 20);
  });

  test('that fails half way does not end cleanly, and is logged once', async (t) => {
    const log: string[] = [];
    const logger = { level: 'info', stream: { write: (line: string) => void log.push(line) } };
    const { store } = watchedSearch(async function* () {
      yield PAGE;
      yield PAGE;
      throw new Error('the disk failed');
    });
    const { port } = await serve(t, { services: { store }, options: { logger } });
    log.length = 0; // drops the line about listening
    const response = await fetch(`${origin(port)}${BASE}/search`, { method: 'POST', body: '{"asn":1}' });
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
    await until(() => log.length > 0);
    assert.equal(log.length, 1);
    assert.match(String(log[0]), /the disk failed/);
    assert.equal(JSON.parse(String(log[0])).level, 50);
  });

  test('that fails half way resets an HTTP/1.0 connection, where a close would be a clean end', async (t) => {
    const gate = Promise.withResolvers<void>();
    const { store } = watchedSearch(async function* () {
      yield PAGE;
      await gate.promise;
      throw new Error('the disk failed');
    });
    const { port } = await serve(t, { services: { store } });
    const socket = open(port);
    socket.write(SEARCH_BYTES.replace('HTTP/1.1', 'HTTP/1.0'));
    await once(socket, 'data');
    const failed = once(socket, 'error');
    gate.resolve();
    assert.equal((await failed)[0].code, 'ECONNRESET');
  });

  test('is aborted when its client reads nothing', async (t) => {
    const log: string[] = [];
    const logger = { level: 'info', stream: { write: (line: string) => void log.push(line) } };
    const { seen, store } = watchedSearch(endless);
    const { port, app } = await serve(t, { services: { store }, options: { stallMs: 50, logger } });
    log.length = 0;
    const socket = await stalledReader(port);
    socket.on('error', () => {});
    await until(() => seen.closed);
    assert.equal(seen.signal?.aborted, true);
    let connections = 1;
    await until(() => {
      app.server.getConnections((_error, count) => {
        connections = count;
      });
      return connections === 0;
    });
    assert.deepEqual(log, [], 'that is the fault of the reader, not ours');
    socket.destroy();
  });

  test('is not aborted while the store is slow', { timeout: 10_000 }, async (t) => {
    t.after(() => t.mock.timers.reset());
    const [waiting, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { store } = watchedSearch(async function* () {
      yield PAGE;
      waiting.resolve();
      await gate.promise;
      yield PAGE;
    });
    const { port } = await serve(t, { services: { store } });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const socket = open(port);
    const text = textOf(socket);
    socket.write(LAST_SEARCH_BYTES);
    await waiting.promise;
    t.mock.timers.tick(HOUR_MS);
    gate.resolve();
    await once(socket, 'close');
    assert.deepEqual(bodiesOf(text()), [PAGE + PAGE]);
  });

  test('is not aborted while it waits for an earlier response on its connection', { timeout: 10_000 }, async (t) => {
    t.after(() => t.mock.timers.reset());
    const gate = Promise.withResolvers<void>();
    const { store, seen } = watchedSearch(async function* () {
      yield PAGE;
      await gate.promise;
    });
    const { port } = await serve(t, { services: { store } });
    const socket = open(port);
    const text = textOf(socket);
    socket.write(SEARCH_BYTES);
    await until(() => text().endsWith('}\n\r\n'));
    t.mock.timers.enable({ apis: ['setTimeout'] });
    socket.write(LAST_SEARCH_BYTES);
    while (seen.pages < 2) await nextTurn();
    await nextTurn(); // its first piece is handed over
    for (let i = 0; i < 3; i++) t.mock.timers.tick(HOUR_MS);
    gate.resolve();
    await once(socket, 'close');
    assert.deepEqual(bodiesOf(text()), [PAGE, PAGE]);
  });

  test('is written in pieces, so that a slow reader does not count as stalled', async (t) => {
    const { store } = watchedSearch(async function* () {
      yield PAGE.repeat(10);
    });
    const { port } = await serve(t, { services: { store } });
    const { text } = await exchange(port, LAST_SEARCH_BYTES);
    assert.deepEqual(bodiesOf(text), [PAGE.repeat(10)]);
    const sizes = [...text.matchAll(/^([0-9a-f]+)\r$/gm)].map(([, size]) => Number.parseInt(`${size}`, 16));
    assert.ok(sizes.length > 3 && Math.max(...sizes) <= 64 * 1024, `pieces of ${sizes}`);
  });

  test('leaves nothing behind on a connection that stays open', async (t) => {
    const { store, seen } = watchedSearch(async function* () {
      yield PAGE;
    });
    const { app, port } = await serve(t, { services: { store } });
    const accepted = once(app.server, connectionEvent());
    const socket = open(port);
    t.after(() => socket.destroy());
    const text = textOf(socket);
    const [served] = await accepted;
    const listeners: number[] = [];
    for (let asked = 1; asked <= 3; asked++) {
      socket.write(SEARCH_BYTES);
      await until(() => text().split('\r\n0\r\n\r\n').length > asked);
      listeners.push(served.listenerCount('close') + served.listenerCount('end'));
    }
    assert.deepEqual(listeners, new Array(3).fill(listeners[0]));
    assert.equal(seen.signal?.aborted, true, 'the store is done with it');
  });

  test('stops when its client disconnects', async (t) => {
    const { seen, store } = watchedSearch(endless);
    const { port } = await serve(t, { services: { store } });
    const socket = await stalledReader(port);
    await until(() => seen.pages > 0);
    socket.destroy();
    await until(() => seen.closed);
    assert.equal(seen.signal?.aborted, true);
  });

  for (const leave of ['destroy', 'end'] as const) {
    test(`stops when its client disconnects before the first page, by ${leave}`, async (t) => {
      const log: string[] = [];
      const logger = { level: 'info', stream: { write: (line: string) => void log.push(line) } };
      const { seen, store } = watchedSearch(async function* (signal) {
        await once(signal, 'abort');
        signal.throwIfAborted();
        yield PAGE;
      });
      const { port } = await serve(t, { services: { store }, options: { logger } });
      log.length = 0;
      const socket = await stalledReader(port);
      await until(() => seen.signal !== null);
      socket[leave]();
      await until(() => seen.closed);
      assert.match(String(seen.signal?.reason), /The reader has left/);
      assert.deepEqual(log, []);
    });
  }

  test('is aborted from the start for a client that disconnected before', async (t) => {
    let signal: AbortSignal | null = null;
    let pulled = 0;
    async function* statuses(...[, , bounds]: Parameters<Intelligence['statuses']>) {
      pulled += 1;
      signal = bounds.signal;
      await once(signal, 'abort');
      yield [{ ts: 1, kind: 'added' as const, removal: '', reporter: '' }];
    }
    const authenticate = async () => {
      socket.destroy();
      await new Promise((resolve) => served.once('end', resolve).once('close', resolve)); // over TLS there is an error first
      return OPERATOR;
    };
    const { app, port } = await serve(t, { services: { store: stubStore({ statuses }), authenticate } });
    let served = new Socket();
    app.server.on(connectionEvent(), (socket) => {
      served = socket;
    });
    const socket = open(port);
    socket.write(`GET ${BASE}/1/statuses HTTP/1.1\r\nHost: a\r\n\r\n`);
    await until(() => pulled === 1);
    assert.equal((signal as AbortSignal | null)?.aborted, true);
  });

  test('that finds nothing within the query budget gets 408, and its search is stopped', async (t) => {
    const { seen, store } = watchedSearch(async function* (signal) {
      await once(signal, 'abort');
      signal.throwIfAborted();
      yield PAGE;
    });
    const { app } = await build(t, { services: { store }, options: { queryBudgetMs: 10 } });
    assertError(await app.inject(SEARCH), 408, /too long/);
    assert.equal(seen.signal?.aborted, true);
    await until(() => seen.closed);
  });

  test('that is empty gets 408 when the check of its URLID takes too long', async (t) => {
    const store = stubStore({ hasUrl: () => new Promise(() => {}) });
    const { app } = await build(t, { services: { store }, options: { queryBudgetMs: 10 } });
    assertError(await app.inject(`${BASE}/1/statuses`), 408);
  });

  test('closes its source at the end', async (t) => {
    const { seen, store } = watchedSearch(async function* () {
      yield PAGE;
    });
    const { app } = await build(t, { services: { store } });
    assert.equal((await app.inject(SEARCH)).body.length, PAGE_BYTES);
    assert.equal(seen.closed, true);
  });

  test('reads only the first page for HEAD', async (t) => {
    let pulled = 0;
    let closed = false;
    async function* statuses() {
      try {
        for (;;) {
          pulled += 1;
          yield [{ ts: 1, kind: 'added' as const, removal: '', reporter: '' }];
        }
      } finally {
        closed = true;
      }
    }
    const { app } = await build(t, { services: { store: stubStore({ statuses }) } });
    const response = await app.inject({ method: 'HEAD', url: `${BASE}/1/statuses` });
    assert.deepEqual([response.statusCode, response.body, pulled], [200, '', 1]);
    await until(() => closed);
  });

  test('writes lines longer than a piece, and pages of any size', async (t) => {
    const long = { ts: 1, id: 1, url: `http://a.example/${'é😀"\n'.repeat(20_000)}` };
    const { store } = watchedSearch(async function* () {
      yield linesOf([long]);
      yield linesOf([...FACTS, long, long]);
    });
    const { port } = await serve(t, { services: { store } });
    const response = await fetch(`${origin(port)}${BASE}/search`, { method: 'POST', body: '{"asn":1}' });
    const records = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(records, [long, ...FACTS, long, long]);
  });
});
