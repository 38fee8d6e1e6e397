import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { batchRequests } from '../../src/http/request-batching.ts';
import { BASE, NOW, serve, stubStore } from './build.ts';
import { parseResponses } from './raw.ts';
import { open } from './transport.ts';

const KNOWN = 'http://192.0.2.1/x';
const CONNECTIONS = 20;
const HEAD = `POST ${BASE}/last HTTP/1.1\r\nHost: a\r\n`;
const BODY = JSON.stringify({ url: KNOWN });
const message = (body: string, headers = '') =>
  `${HEAD}${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const MESSAGE = message(BODY);

/** A batching listener, and the requests that it passed on. */
function recorded(waitsAlways = () => false): { listener: RequestListener; handled: IncomingMessage[] } {
  const handled: IncomingMessage[] = [];
  return { listener: batchRequests((request) => void handled.push(request), waitsAlways), handled };
}

/** Each on a connection of its own, unless one is given. */
const requestOf = (text: string, socket: object = { destroyed: false }) =>
  ({ text, socket }) as unknown as IncomingMessage;
const NO_RESPONSE = new EventEmitter() as ServerResponse;
const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

describe('requests of one event loop iteration', () => {
  test('are passed on at its end, in the order of arrival', async () => {
    const { listener, handled } = recorded();
    const [first, second, third] = [requestOf('a'), requestOf('b'), requestOf('c')];
    listener(first, NO_RESPONSE);
    await Promise.resolve();
    listener(second, NO_RESPONSE);
    process.nextTick(() => listener(third, NO_RESPONSE));
    await Promise.resolve();
    assert.deepEqual(handled, []);
    await nextIteration();
    assert.deepEqual(handled, [first, second, third]);
  });

  test('are passed on once, also when more arrive in the next iteration', async () => {
    const { listener, handled } = recorded();
    const [first, second] = [requestOf('a'), requestOf('b')];
    listener(first, NO_RESPONSE);
    await nextIteration();
    listener(second, NO_RESPONSE);
    await nextIteration();
    await nextIteration();
    assert.deepEqual(handled, [first, second]);
  });

  test('are dropped when their clients disconnect before its end', async () => {
    const { listener, handled } = recorded();
    const [gone, stayed] = [requestOf('a'), requestOf('b')];
    listener(gone, NO_RESPONSE);
    listener(stayed, NO_RESPONSE);
    Object.assign(gone.socket, { destroyed: true });
    await nextIteration();
    assert.deepEqual(handled, [stayed]);
  });

  test('are passed on at once while one connection sends them, but not before others that wait', async () => {
    const { listener, handled } = recorded();
    const one = { destroyed: false };
    const [first, second, third, fourth] = [
      requestOf('a', one),
      requestOf('b', one),
      requestOf('c'),
      requestOf('d', one),
    ];
    listener(first, NO_RESPONSE);
    listener(second, NO_RESPONSE);
    assert.deepEqual(handled, []);
    await nextIteration();
    listener(first, NO_RESPONSE);
    assert.deepEqual(handled, [first, second, first]);
    listener(third, NO_RESPONSE);
    listener(fourth, NO_RESPONSE);
    assert.deepEqual(handled, [first, second, first]);
    await nextIteration();
    assert.deepEqual(handled, [first, second, first, third, fourth]);
  });

  test('of one connection wait too while they must', async () => {
    let waitsAlways = false;
    const { listener, handled } = recorded(() => waitsAlways);
    const one = { destroyed: false };
    const [first, second] = [requestOf('a', one), requestOf('b', one)];
    listener(first, NO_RESPONSE);
    await nextIteration();
    waitsAlways = true;
    listener(second, NO_RESPONSE);
    assert.deepEqual(handled, [first]);
    await nextIteration();
    assert.deepEqual(handled, [first, second]);
  });

  test('of a connection that sends one after the other are not batched, also beside idle ones; those of two are', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({ urlLast: () => null }) } });
    const immediates = t.mock.method(globalThis, 'setImmediate').mock;
    const batches = () => immediates.calls.filter(({ arguments: [callback] }) => callback.name === 'handleAll').length;
    const ask = async (socket: Socket) => {
      const answered = once(socket, 'data');
      socket.write(MESSAGE);
      await answered;
    };
    const [first, second] = [open(port), open(port)];
    await ask(second);
    await ask(first);
    assert.equal(batches(), 2);
    await ask(first);
    await ask(first);
    assert.equal(batches(), 2);
    await ask(second);
    await ask(first);
    assert.equal(batches(), 4);
    second.destroy();
    first.destroy();
  });

  test('from many connections are handled in one batch', async (t) => {
    let batches = 0;
    let isInBatch = false;
    const urlLast = () => {
      if (!isInBatch) {
        batches++;
        isInBatch = true;
        process.nextTick(() => {
          isInBatch = false;
        });
      }
      return null;
    };
    const { port } = await serve(t, { services: { store: stubStore({ urlLast }) } });
    const sockets = Array.from({ length: CONNECTIONS }, () => open(port));
    const requestAll = async () => {
      const responses = sockets.map((socket) => once(socket, 'data'));
      for (const socket of sockets) socket.write(MESSAGE);
      await Promise.all(responses);
    };
    await requestAll(); // connections are not accepted in batches
    batches = 0;
    await requestAll();
    for (const socket of sockets) socket.destroy();
    assert.ok(batches <= CONNECTIONS / 4, `${CONNECTIONS} requests took ${batches} batches`);
  });

  test('are answered also when the client has closed its sending side', async (t) => {
    const { port } = await serve(t, { services: { store: stubStore({ urlLast: () => null }) } });
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.end(MESSAGE);
    await once(socket, 'close');
    assert.deepEqual(
      parseResponses(text).map(({ statusCode }) => statusCode),
      [404],
    );
  });

  test('from one connection are answered in order, in any fragmentation', async (t) => {
    const { port } = await serve(t, { observations: [{ ts: NOW - 10, url: KNOWN, status: 'online', reporter: 'r' }] });
    const chunked = `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n${(BODY.length - 2).toString(16)}\r\n${BODY.slice(2)}\r\n0\r\n\r\n`;
    const socket = open(port);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    const ended = once(socket, 'close');
    for (const piece of MESSAGE) {
      socket.write(piece);
      await nextIteration();
    }
    const unknown = JSON.stringify({ url: 'http://192.0.2.1/y' });
    socket.write(chunked + message(unknown) + message('no JSON') + message(BODY, 'Connection: close\r\n'));
    await ended;
    assert.deepEqual(
      parseResponses(text).map(({ statusCode }) => statusCode),
      [200, 200, 404, 400, 200],
    );
  });
});
