import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import { AppError } from '../../src/core/errors.ts';
import { STREAMS_PER_ACCOUNT } from '../../src/limits/charge.ts';
import { assertError, BASE, build, lines, NOW, serve, stubStore, until } from './build.ts';
import { open, origin } from './transport.ts';
import { authorized, LIMITS, type World, withAccounts } from './with-accounts.ts';

const PATH = `${BASE}/bulk`;
const KNOWN = 'http://192.0.2.1/x';
const MIB = 2 ** 20;

type Line = { n: number; found?: boolean; ref?: unknown; id?: number; error?: { code: number; message: string } };
type End = { end: true; lines: number; distinct: number; found: number; invalid: number; charged: number };

const bulk = (payload: string | Buffer, headers: Record<string, string> = {}, query = ''): InjectOptions => ({
  method: 'POST',
  url: PATH + query,
  payload: Buffer.from(payload),
  headers,
});
const urlsOf = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `http://a.example/${from + i}\n`).join('');
const endOf = (count: number, rest: object = {}) => ({
  end: true,
  lines: count,
  distinct: count,
  found: 0,
  invalid: 0,
  charged: count,
  ...rest,
});
/** The lines of a response, and its last one. */
function parsed(body: string): { responses: Line[]; end: End } {
  const all = lines(body);
  return { responses: all.slice(0, -1) as Line[], end: all.at(-1) as End };
}

const withToken = async (world: World, request: InjectOptions, token?: string) => {
  const authorization = token ?? (await world.logIn());
  return world.app.inject({ ...request, headers: { ...request.headers, authorization } });
};
const currentOf = async ({ app, logIn }: World) => (await app.inject(authorized(LIMITS, await logIn()))).json().current;

describe('the lines', () => {
  test('have the status null for a URL of which only facts were reported', async (t) => {
    const url = 'http://facts.example/';
    const payload = { sha256: 'cd'.repeat(32) };
    const { app } = await build(t, { observations: [{ ts: NOW, url, status: null, payload }] });
    for (const view of ['last', 'status']) {
      const { responses } = parsed((await app.inject(bulk(`${url}\n`, {}, `?view=${view}`))).body);
      const [{ id, status }] = responses as [Line & { status: unknown }];
      assert.deepEqual([typeof id, status], ['number', null]);
    }
  });

  test('are answered in their order, each on its own, as url/last does', async (t) => {
    const world = await withAccounts(t);
    const body = [
      `{"url":"${KNOWN}","ref":"a"}`,
      '',
      '{"url":"http://unknown.example/","ref":2}',
      '{"url":"nowhere","ref":3}',
      'not JSON',
      ' {"url":"HTTP://192.0.2.1:80/x#top"}\r',
      '{"url":"http://site.example/x"}',
    ].join('\n');
    const response = await withToken(world, bulk(body, { 'content-type': 'application/x-ndjson' }));
    assert.equal(response.statusCode, 200, response.body);
    assert.equal(response.headers['content-type'], 'application/x-ndjson');
    assert.ok(response.headers.ratelimit);
    const { responses, end } = parsed(response.body);
    const last = JSON.parse(String(await world.store.urlLast(KNOWN)));
    const site = JSON.parse(String(await world.store.urlLast('http://site.example/x')));
    assert.deepEqual(responses, [
      { n: 1, ref: 'a', found: true, ...last },
      { n: 2, ref: 2, found: false },
      { n: 3, ref: 3, error: { code: 400, message: responses[2]?.error?.message } },
      { n: 4, error: { code: 400, message: 'The line is not valid JSON' } },
      { n: 5, found: true, ...last },
      { n: 6, found: true, ...site },
    ]);
    assert.match(responses[2]?.error?.message ?? '', /^url: The URL has no scheme/);
    assert.deepEqual(end, { end: true, lines: 6, distinct: 3, found: 3, invalid: 2, charged: 3 });
    assert.deepEqual(Object.values(await currentOf(world)), [3, 3, 3, 3, 3]);
  });

  test('have no payload with view=status', async (t) => {
    const world = await withAccounts(t);
    const { payload: _payload, ...status } = JSON.parse(String(await world.store.urlLast(KNOWN)));
    const { responses } = parsed((await withToken(world, bulk(KNOWN, {}, '?view=status'))).body);
    assert.deepEqual(responses, [{ n: 1, found: true, ...status }]);
  });

  for (const [type, payload, isFound] of [
    [undefined, KNOWN, true],
    [undefined, `\n {"url":"${KNOWN}"}`, true],
    ['application/x-www-form-urlencoded', KNOWN, true],
    ['application/x-www-form-urlencoded', `{"url":"${KNOWN}"}`, true],
    ['Text/Plain; charset=utf-8', KNOWN, true],
    ['text/plain', `{"url":"${KNOWN}"}`, false],
    ['application/x-ndjson', KNOWN, false],
  ] as const) {
    test(`${payload.trim()} with the content type ${type} is ${isFound ? 'read' : 'an error'}`, async (t) => {
      const { app } = await build(t, { observations: [{ ts: NOW, url: KNOWN }] });
      const response = await app.inject(bulk(payload, type === undefined ? {} : { 'content-type': type }));
      const { responses } = parsed(response.body);
      assert.deepEqual([responses.length, responses[0]?.found ?? false], [1, isFound]);
    });
  }

  test('are read as NDJSON also after a line that is too long', async (t) => {
    const { app } = await build(t, { observations: [{ ts: NOW, url: KNOWN }] });
    const { responses } = parsed(
      (await app.inject(bulk(`{"url":"${'x'.repeat(64 * 1024)}"}\n{"url":"${KNOWN}"}\n`))).body,
    );
    assert.deepEqual([responses[0]?.error?.code, responses[1]?.found], [400, true]);
  });

  test('of an empty body are none', async (t) => {
    const { app } = await build(t);
    for (const body of ['', '\n\n']) assert.deepEqual(lines((await app.inject(bulk(body))).body), [endOf(0)]);
  });

  test('may be packed with gzip', async (t) => {
    const { app } = await build(t);
    const packed = gzipSync(urlsOf(5_000));
    const gzip = { 'content-encoding': 'gzip' };
    assert.deepEqual(parsed((await app.inject(bulk(packed, gzip))).body).end, endOf(5_000));
    assertError(await app.inject(bulk('no gzip', gzip)), 400, /gzip/);
    const cut = parsed((await app.inject(bulk(packed.subarray(0, packed.length - 12), gzip))).body);
    assert.equal(cut.responses.at(-1)?.error?.message, 'The body is not valid gzip from here on');
    assert.equal(cut.end.invalid, 1);
    assert.equal(cut.end.charged, cut.responses.length - 1);
    assertError(await app.inject(bulk('x', { 'content-encoding': 'br' })), 400, /Content-Encoding/);
  });

  test('are answered while the body is still arriving', async (t) => {
    const { port } = await serve(t);
    const { readable, writable } = new TransformStream<Uint8Array>();
    const writer = writable.getWriter();
    const send = (text: string) => void writer.write(Buffer.from(text));
    send('http://a.example/1\nhttp://a.exa');
    const response = await fetch(origin(port) + PATH, {
      method: 'POST',
      body: readable,
      duplex: 'half',
    } as RequestInit);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal((await reader?.read())?.value, '{"n":1,"found":false}\n');
    send('mple/2\n');
    assert.equal((await reader?.read())?.value, '{"n":2,"found":false}\n');
    await writer.close();
    assert.deepEqual(JSON.parse(String((await reader?.read())?.value)), endOf(2));
    assert.equal((await reader?.read())?.done, true);
  });
});

describe('the bounds', () => {
  test('end at 10,000 lines', async (t) => {
    const world = await withAccounts(t);
    const { responses, end } = parsed((await withToken(world, bulk(`${urlsOf(10_001)}\n`))).body);
    assert.deepEqual([responses.length, responses.at(-1)?.n], [10_000, 10_000]);
    assert.deepEqual(end, endOf(10_000, { stopped_at: 10_001, limit: 'lines' }));
    assert.equal((await currentOf(world)).qpm, 10_000);
    assert.deepEqual(parsed((await withToken(world, bulk(`${urlsOf(10_000)}\n\n`))).body).end, endOf(10_000));
  });

  test('end at 8 MiB, unpacked', async (t) => {
    const { app } = await build(t);
    const body = `http://a.example/1\n${' '.repeat(8 * MIB - 30)}\nhttp://a.example/2\n`;
    const gzip = { 'content-encoding': 'gzip' };
    const { end } = parsed((await app.inject(bulk(gzipSync(body), gzip))).body);
    assert.deepEqual(end, endOf(1, { invalid: 1, lines: 2, stopped_at: 3, limit: 'bytes' }));
  });

  test('a declared length beyond 8 MiB gets 413, other views 400, and neither is charged', async (t) => {
    const world = await withAccounts(t);
    assertError(await withToken(world, bulk(' '.repeat(8 * MIB + 1))), 413, /8 MiB/);
    for (const query of ['?view=x', '?view=']) {
      assertError(await withToken(world, bulk(KNOWN, {}, query)), 400, /^"view" must be one of last, status$/);
    }
    for (const query of ['?view=last&view=last', '?view=last&view=x']) {
      assertError(await withToken(world, bulk(KNOWN, {}, query)), 400, /^"view" must be sent once$/);
    }
    assert.equal((await currentOf(world)).rl_qps, 0);
  });

  test('a line over 64 KiB is an error of that line', async (t) => {
    const { app } = await build(t);
    const { responses } = parsed((await app.inject(bulk(`http://a.example/${'x'.repeat(65_536)}\n${KNOWN}`))).body);
    assert.match(responses[0]?.error?.message ?? '', /64 KiB/);
    assert.deepEqual(responses[1], { n: 2, found: false });
  });
});

describe('the limits', () => {
  test('of a month end the request where they are reached', async (t) => {
    const world = await withAccounts(t, { qmh: 750 });
    const body = `${urlsOf(700)}${urlsOf(700)}no URL\n${urlsOf(100, 700)}`;
    const { responses, end } = parsed((await withToken(world, bulk(body))).body);
    assert.deepEqual([responses.length, responses.at(-1)?.n], [1_451, 1_451]);
    const month = 31 * 86_400;
    const stopped = { stopped_at: 1_452, limit: 'qmh', retry_after: month };
    assert.deepEqual(end, endOf(750, { lines: 1_451, invalid: 1, ...stopped }));
    assert.equal((await currentOf(world)).qpm, 750);
    const refused = await withToken(world, bulk(KNOWN));
    assertError(refused, 429, /qmh/);
    assert.equal(refused.headers['retry-after'], String(month));
    // Lines that cost nothing are answered all the same.
    const free = parsed((await withToken(world, bulk(`no URL\n${KNOWN}`))).body);
    assert.deepEqual(free.end, endOf(0, { lines: 1, invalid: 1, ...stopped, stopped_at: 2 }));
  });

  test('of an hour and a minute do so as well', async (t) => {
    for (const [limits, limit] of [
      [{ rlQph: 3 }, 'rl_qph'],
      [{ rlQpm: 3 }, 'rl_qpm'],
    ] as const) {
      const { end } = parsed((await withToken(await withAccounts(t, limits), bulk(urlsOf(5)))).body);
      const retry_after = limit === 'rl_qph' ? 3_600 : 60;
      assert.deepEqual(end, endOf(3, { stopped_at: 4, limit, retry_after }));
    }
  });

  test('of a second are waited for', async (t) => {
    const world = await withAccounts(t, { rlQps: 3 });
    const response = withToken(world, bulk(urlsOf(5)));
    await until(() => world.counters.countStreams() === 1);
    await until(async () => (await currentOf(world)).rl_qps === 3);
    await world.setNow(NOW + 1);
    assert.deepEqual(parsed((await response).body).end, endOf(5));
    assert.equal((await currentOf(world)).rl_qps, 2);
  });

  test('count a request as one open stream', async (t) => {
    const gate = Promise.withResolvers<(string | null)[]>();
    const store = stubStore({ lastOfMany: () => gate.promise });
    const world = await withAccounts(t, {}, { services: { store } });
    const token = await world.logIn();
    const requests = Array.from({ length: STREAMS_PER_ACCOUNT }, () => withToken(world, bulk(KNOWN), token));
    await until(() => world.counters.countStreams() === STREAMS_PER_ACCOUNT);
    assertError(await withToken(world, bulk(KNOWN), token), 429, /streams/);
    gate.resolve([null]);
    for (const response of await Promise.all(requests)) assert.equal(response.statusCode, 200);
    assert.equal(world.counters.countStreams(), 0);
  });
});

describe('a failure', () => {
  const failing = (successes: number) => {
    let calls = 0;
    return stubStore({
      lastOfMany: async (urls) => {
        if (++calls > successes) throw new AppError('unavailable', 'away');
        return urls.map(() => null);
      },
    });
  };

  test('of the first lines gets 503, and nothing is charged', async (t) => {
    const world = await withAccounts(t, {}, { services: { store: failing(0) } });
    assertError(await withToken(world, bulk(urlsOf(1_000))), 503);
    assert.equal((await currentOf(world)).qpm, 0);
  });

  test('of later ones cuts the response off, and only answered lines are charged', async (t) => {
    const world = await withAccounts(t, {}, { services: { store: failing(2) } });
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = world.app.server.address() as { port: number };
    // What fetch has not unpacked yet is lost when the response breaks.
    const headers = { authorization: await world.logIn(), 'accept-encoding': 'identity' };
    const response = await fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST', headers, body: urlsOf(1_000) });
    let text = '';
    await assert.rejects(async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    });
    await until(() => world.counters.countStreams() === 0);
    const answered = lines(text).length;
    assert.ok(answered > 0 && answered < 1_000, `${answered}`);
    assert.equal((await currentOf(world)).qpm, answered);
  });
});

describe('a client', () => {
  test('may send everything before it reads', async (t) => {
    const { port } = await serve(t);
    const socket = open(port);
    await once(socket, 'connect');
    socket.pause();
    // Lines whose responses are larger than what the kernel takes.
    const body = `{"ref":"${'r'.repeat(800)}","url":"http://a.example/"}\n`.repeat(9_900);
    const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    await new Promise((resolve) => socket.write(head + body, resolve));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.resume();
    await once(socket, 'close');
    assert.match(text, /"end":true,"lines":9900,"distinct":1,/);
  });

  test('that hangs up is charged for what was answered', async (t) => {
    const world = await withAccounts(t);
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = world.app.server.address() as { port: number };
    const stop = new AbortController();
    const { readable, writable } = new TransformStream<Uint8Array>();
    const writer = writable.getWriter();
    writer.write(Buffer.from(urlsOf(300))).catch(() => {});
    const headers = { authorization: await world.logIn() };
    const request = { method: 'POST', headers, body: readable, duplex: 'half', signal: stop.signal };
    const response = await fetch(`http://127.0.0.1:${port}${PATH}`, request as RequestInit);
    assert.equal(response.status, 200);
    await until(() => world.counters.countStreams() === 1);
    await until(async () => (await currentOf(world)).qpm === 300);
    stop.abort();
    await until(() => world.counters.countStreams() === 0);
    assert.equal((await currentOf(world)).qpm, 300);
  });

  test('that stops sending loses its connection, and nothing is logged', async (t) => {
    const log: string[] = [];
    const logger = { level: 'warn', stream: { write: (line: string) => void log.push(line) } };
    const { port } = await serve(t, { options: { stallMs: 50, logger } });
    for (const sent of ['', 'http://a.example/\n']) {
      const socket = open(port);
      socket.on('error', () => {}).resume();
      await once(socket, 'connect');
      socket.write(`POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n${sent}`);
      await once(socket, 'close');
    }
    assert.deepEqual(log, []);
  });

  test('that is refused and stops sending loses its connection', async (t) => {
    const { port } = await serve(t, {
      options: { headersTimeoutMs: 100, requestTimeoutMs: 100, connectionsCheckMs: 20 },
    });
    const socket = open(port);
    let response = '';
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        response += chunk;
      });
    await once(socket, 'connect');
    socket.write(`POST ${PATH}?view=x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100\r\n\r\n`);
    await once(socket, 'close');
    assert.match(response, /^HTTP\/1\.1 400 /);
  });
});
