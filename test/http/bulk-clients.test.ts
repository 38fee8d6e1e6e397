import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { ObservationInput } from '../../src/core/observation.ts';
import { temporaryIntelligence } from '../engine.ts';
import { liveBytes } from '../live-bytes.ts';
import { BASE, lines, NOW, settled, until } from './build.ts';
import { parseResponses } from './raw.ts';
import { open, reset } from './transport.ts';
import { authorized, LIMITS, type World, withAccounts } from './with-accounts.ts';

// Bulk requests of many lines, and clients that read slowly or leave: what is answered and charged is exact.

const PATH = `${BASE}/bulk`;
const NDJSON = { 'content-type': 'application/x-ndjson' };

/** Queries of this month, as the account sees them. */
const chargedOf = async ({ app, logIn }: World): Promise<number> =>
  (await app.inject(authorized(LIMITS, await logIn()))).json().current.qpm;

const COUNT = 9_000;
/** Answers are as long as their lines: together far more than what the kernel takes for a client that does not read. */
const LONG_REF = 'r'.repeat(800);
const LONG_LINES = Array.from(
  { length: COUNT },
  (_, i) => `{"ref":"${LONG_REF}","url":"http://a.example/${i}"}\n`,
).join('');

/** A client that has sent all the lines and has read nothing; the server has taken all of them. */
async function sendEverything(t: TestContext) {
  const stored = await temporaryIntelligence(t);
  const lookedUp: string[] = [];
  const store: typeof stored = {
    ...stored,
    lastOfMany(urls, view) {
      lookedUp.push(...urls);
      return stored.lastOfMany(urls, view);
    },
  };
  const world = await withAccounts(t, {}, { services: { store } });
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const head = [
    `POST ${PATH} HTTP/1.1`,
    'Host: a',
    'Connection: close',
    `Authorization: ${await world.logIn()}`,
    `Content-Length: ${LONG_LINES.length}`,
  ];
  const message = `${head.join('\r\n')}\r\n\r\n${LONG_LINES}`;
  const accepted = once(world.app.server, 'connection');
  const socket = open((world.app.server.address() as AddressInfo).port);
  t.after(() => socket.destroy());
  socket.pause();
  socket.write(message);
  const [connection] = (await accepted) as [Socket];
  await until(() => connection.bytesRead === message.length);
  return { world, socket, connection, lookedUp };
}

test('a client that does not read may send everything, and the output waits for it', async (t) => {
  const { world, socket, connection, lookedUp } = await sendEverything(t);
  const outputBytes = await settled(() => connection.writableLength);
  assert.ok(outputBytes < 64 * 1024, `${outputBytes} bytes of output are kept`);
  const waiting = lookedUp.length;
  assert.ok(waiting < COUNT, `${waiting} lines are answered`);
  assert.equal(await chargedOf(world), waiting);
  const keptBytes = liveBytes();
  assert.equal(await settled(() => connection.writableLength), outputBytes);
  assert.equal(lookedUp.length, waiting);
  assert.ok(liveBytes() - keptBytes < 2 ** 20, 'memory is constant while it waits');

  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.resume();
  await once(socket, 'close');
  const responses = lines(parseResponses(text)[0]?.body ?? '') as { n: number }[];
  const end = { end: true, lines: COUNT, distinct: COUNT, found: 0, invalid: 0, charged: COUNT };
  assert.deepEqual(responses.pop(), end);
  assert.deepEqual(
    responses.map(({ n }) => n),
    Array.from({ length: COUNT }, (_, i) => i + 1),
  );
  assert.deepEqual([lookedUp.length, await chargedOf(world)], [COUNT, COUNT]);
});

test('a client that leaves half way is charged for what was looked up, and for no more', async (t) => {
  const { world, socket, connection, lookedUp } = await sendEverything(t);
  await settled(() => connection.writableLength);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
    if (text.includes('"n":1,')) reset(socket);
  });
  socket.resume();
  await until(() => world.counters.countStreams() === 0);
  const count = lookedUp.length;
  assert.ok(count < COUNT, `${count} lines were looked up`);
  assert.equal(new Set(lookedUp).size, count);
  assert.equal(await chargedOf(world), count);

  const next = { method: 'POST' as const, url: PATH, payload: 'http://b.example/1\nhttp://b.example/2\n' };
  const { body } = await world.app.inject(authorized(next, await world.logIn()));
  assert.equal((lines(body).at(-1) as { charged: number }).charged, 2);
  assert.equal(await chargedOf(world), count + 2);
});

const REFUSED = 400;
/** What a line is, and the result: the known URL of this number, unknown, or refused. `ref` is the number of the line. */
const KINDS: ((i: number) => { line: string; result: { known: number } | 'unknown' | typeof REFUSED })[] = [
  (i) => ({ line: `{"url":"http://known.example/${i % 400}","ref":${i}}`, result: { known: i % 400 } }),
  (i) => ({ line: `{"ref":${i},"url":"http://unknown.example/${i}"}`, result: 'unknown' }),
  (i) => ({ line: `{"url":"hxxp://known.example/0","ref":${i}}`, result: REFUSED }),
  (i) => ({ line: ` {"url":"HTTP://KNOWN.example:80/${i % 400}#x","ref":${i}}\r`, result: { known: i % 400 } }),
  (i) => ({ line: `{"url":${i},"ref":${i}}`, result: REFUSED }),
  (i) => ({ line: `{"ref":${i},"url":"http://unknown.example/${i - 4}"}`, result: 'unknown' }),
];

test('10,000 lines are answered in their order, with exact totals, plain and packed', async (t) => {
  const urls = Array.from({ length: 400 }, (_, i) => `http://known.example/${i}`);
  const observations = urls.map((url, i): ObservationInput => ({ ts: NOW - i, url, payload: { fileSize: i } }));
  const world = await withAccounts(t, {}, { observations });
  const stored = (await world.store.lastOfMany(urls, 'last')).map((text) => JSON.parse(String(text)));
  const sent = Array.from({ length: 10_000 }, (_, i) => (KINDS[i % KINDS.length] as (typeof KINDS)[0])(i));
  const body = sent.map(({ line }) => `${line}\n\n`).join('');
  const distinct = new Set(
    sent.flatMap(({ line, result }) => {
      if (result === REFUSED) return [];
      return result === 'unknown' ? JSON.parse(line).url : `known ${result.known}`;
    }),
  );
  const authorization = await world.logIn();
  const ask = (payload: string | Buffer, headers: object) =>
    world.app.inject({ method: 'POST', url: PATH, payload, headers: { ...NDJSON, authorization, ...headers } });
  const response = await ask(body, {});
  const responses = lines(response.body) as Record<string, unknown>[];
  const end = responses.pop();
  for (const [i, response] of responses.entries()) {
    const result = sent[i]?.result;
    const base = { n: i + 1, ref: i };
    if (result === REFUSED) {
      const { error, ...rest } = response as { error: { code: number } };
      assert.deepEqual([rest, error.code], [base, REFUSED]);
    } else if (result === 'unknown') assert.deepEqual(response, { ...base, found: false });
    else assert.deepEqual(response, { ...base, found: true, ...stored[result?.known ?? 0] });
  }
  const count = (isOfKind: (result: unknown) => boolean) => sent.filter(({ result }) => isOfKind(result)).length;
  const found = count((result) => typeof result === 'object');
  const invalid = count((result) => result === REFUSED);
  const charged = distinct.size;
  assert.deepEqual(end, { end: true, lines: 10_000, distinct: charged, found, invalid, charged });
  assert.equal(await chargedOf(world), charged);
  assert.equal((await ask(gzipSync(body), { 'content-encoding': 'gzip' })).body, response.body);
  assert.equal(await chargedOf(world), 2 * charged);
});
