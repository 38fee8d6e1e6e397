import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, test } from 'node:test';
import { createGunzip, createZstdDecompress, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { UrlwardenClient } from '../../src/client/index.ts';
import type { ObservationInput } from '../../src/core/observation.ts';
import { liveBytes } from '../live-bytes.ts';
import { BASE, build, linesOf, NOW, serve, settled, until } from './build.ts';
import { open, origin } from './transport.ts';
import { FACTS, PAGE, SEARCH, watchedSearch } from './watched-search.ts';

const UNPACK = { gzip: gunzipSync, zstd: zstdDecompressSync };
const ENCODINGS = ['gzip', 'zstd'] as const;

const searchBytes = (encoding: string) =>
  `POST ${BASE}/search HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${encoding}\r\nContent-Length: 9\r\n\r\n{"asn":1}`;

/** A page that can be compressed to about half its size only, so that a reader that takes nothing is soon noticed. */
const randomPage = () => linesOf(FACTS.map((fact) => ({ ...fact, url: randomBytes(200).toString('hex') })));

async function rawResponse(port: number, encoding: string): Promise<IncomingMessage> {
  const headers = { 'accept-encoding': encoding };
  const sent = request(`${origin(port)}${SEARCH.url}`, { method: 'POST', headers });
  sent.end(JSON.stringify(SEARCH.payload));
  const [response] = await once(sent, 'response');
  return response;
}

/** The first page, and the rest when the gate is open. */
function gatedSearch() {
  const gate = Promise.withResolvers<void>();
  const watched = watchedSearch(async function* (signal) {
    yield PAGE;
    await Promise.race([gate.promise, once(signal, 'abort')]);
    signal.throwIfAborted();
    yield PAGE;
  });
  return { ...watched, gate };
}

describe('a stream', () => {
  test('is compressed if the client accepts it, and has the same lines', async (t) => {
    const long = linesOf([{ ts: 1, id: 1, url: `http://a.example/${'é😀"'.repeat(30_000)}` }]);
    const { store } = watchedSearch(async function* () {
      yield* [PAGE, long, PAGE];
    });
    const { app } = await build(t, { services: { store } });
    const plain = await app.inject(SEARCH);
    assert.equal(plain.body, PAGE + long + PAGE);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(plain.headers.vary, 'accept-encoding');
    for (const encoding of ENCODINGS) {
      const packed = await app.inject({ ...SEARCH, headers: { 'accept-encoding': encoding } });
      assert.equal(packed.headers['content-encoding'], encoding);
      assert.equal(packed.headers['content-type'], 'application/x-ndjson');
      assert.equal(packed.headers.vary, 'accept-encoding');
      assert.equal(UNPACK[encoding](packed.rawPayload).toString(), plain.body);
      assert.ok(packed.rawPayload.length < plain.rawPayload.length / 3, encoding);
    }
  });

  test('that begins with a short page is not compressed, unless the client accepts nothing else', async (t) => {
    const short = linesOf(FACTS.slice(0, 1));
    const { store } = watchedSearch(async function* () {
      yield short;
    });
    const { app } = await build(t, { services: { store } });
    const plain = await app.inject({ ...SEARCH, headers: { 'accept-encoding': 'gzip' } });
    assert.deepEqual([plain.headers['content-encoding'], plain.body], [undefined, short]);
    const packed = await app.inject({ ...SEARCH, headers: { 'accept-encoding': 'gzip, identity;q=0' } });
    assert.equal(gunzipSync(packed.rawPayload).toString(), short);
  });

  test('has the same headers for HEAD', async (t) => {
    const observations = Array.from({ length: 100 }, (_, i): ObservationInput => {
      return { ts: NOW - i, url: 'http://a.example/', status: i % 2 === 0 ? 'online' : 'offline' };
    });
    const { app } = await build(t, { observations });
    const headers = { 'accept-encoding': 'zstd' };
    const [get, head] = await Promise.all(
      (['GET', 'HEAD'] as const).map((method) => app.inject({ method, url: `${BASE}/1/statuses`, headers })),
    );
    assert.equal(get?.headers['content-encoding'], 'zstd');
    assert.deepEqual(
      [head?.headers['content-encoding'], head?.headers.vary, head?.body],
      ['zstd', 'accept-encoding', ''],
    );
  });

  for (const encoding of ENCODINGS) {
    test(`in ${encoding} is sent page by page, each as soon as it is read`, { timeout: 10_000 }, async (t) => {
      const { store, gate } = gatedSearch();
      const { port } = await serve(t, { services: { store } });
      const response = await rawResponse(port, encoding);
      let text = '';
      const unpack = encoding === 'gzip' ? createGunzip() : createZstdDecompress();
      unpack.on('data', (bytes) => {
        text += bytes;
      });
      response.pipe(unpack);
      await until(() => text === PAGE);
      gate.resolve();
      await once(unpack, 'end');
      assert.equal(text, PAGE + PAGE);
    });
  }

  test('that fails half way does not end cleanly, after the pages that were read', async (t) => {
    const { store } = watchedSearch(async function* () {
      yield PAGE;
      throw new Error('the disk failed');
    });
    const { port } = await serve(t, { services: { store }, options: { logger: false } });
    const response = await rawResponse(port, 'gzip');
    let text = '';
    const unpack = createGunzip().on('data', (bytes) => {
      text += bytes;
    });
    response.on('data', (bytes) => unpack.write(bytes));
    const [error] = await once(response, 'error').catch((thrown) => [thrown]);
    assert.ok(error instanceof Error);
    await until(() => text === PAGE);
  });

  test('stops when its client disconnects', async (t) => {
    const { store, seen } = gatedSearch();
    const { port } = await serve(t, { services: { store } });
    const socket = open(port);
    socket.on('error', () => {});
    socket.write(searchBytes('gzip'));
    await once(socket, 'data');
    socket.destroy();
    await until(() => seen.closed);
    assert.equal(seen.signal?.aborted, true);
  });

  test('is read only as fast as the client reads, and aborted when it reads nothing', async (t) => {
    const page = randomPage();
    const { store, seen } = watchedSearch(async function* (signal) {
      for (;;) {
        signal.throwIfAborted();
        yield page;
      }
    });
    const before = liveBytes();
    const { port } = await serve(t, { services: { store }, options: { stallMs: 2_000 } });
    const socket = open(port);
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    socket.write(searchBytes('zstd'));
    const pulled = await settled(() => seen.pages);
    assert.equal(seen.closed, false);
    assert.ok(liveBytes() - before < 20_000_000, `${pulled} pages of ${page.length} bytes were read`);
    await until(() => seen.closed);
    assert.equal(seen.signal?.aborted, true);
    socket.destroy();
  });
});

test('the client gets lines of a compressed stream as they are sent, and can stop it', {
  timeout: 10_000,
}, async (t) => {
  const { store, seen } = gatedSearch();
  const { port } = await serve(t, { services: { store } });
  const encodings: (string | null)[] = [];
  const recordingFetch: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    encodings.push(response.headers.get('content-encoding'));
    return response;
  };
  const client = new UrlwardenClient({ baseUrl: origin(port), token: 'x', fetch: recordingFetch });
  let count = 0;
  for await (const _ of client.url.search({ asn: 1 })) if (++count === FACTS.length) break;
  assert.deepEqual(encodings, ['gzip']);
  await until(() => seen.closed);
  assert.equal(seen.signal?.aborted, true);
});
