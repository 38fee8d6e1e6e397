import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { ObservationInput } from '../../src/core/observation.ts';
import { handOver } from '../../src/http/handed-over.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { BASE, NOW, serve, stubStore } from './build.ts';
import { exchange, open, parseAnswers, type RawAnswer } from './raw.ts';
import { withAccounts } from './with-accounts.ts';

const KNOWN = 'http://192.0.2.1/x';
const UNKNOWN = 'http://192.0.2.1/y';
const TOLD: ObservationInput[] = [
  {
    ts: NOW - 10,
    url: KNOWN,
    status: 'online',
    reporter: 'Änne "A" \\ Œ\u2028',
    payload: { sha256: 'ab'.repeat(32), family: 'Mirai', fileName: '\u{1f600}.exe' },
  },
];

type Sent = { name: string; path?: string; method?: 'GET' | 'POST'; headers?: Record<string, string>; body: string };

const json = (url: string) => JSON.stringify({ url });

/** Asked in the plain way, and answered before Fastify. */
const PLAIN: Sent[] = [
  ...['id', 'last', 'history'].flatMap((name) => [
    { name: `${name} of a known URL`, path: `${BASE}/${name}`, body: json(KNOWN) },
    { name: `${name} of an unknown URL`, path: `${BASE}/${name}`, body: json(UNKNOWN) },
  ]),
  { name: 'a space after the colon', body: `{"url": "${KNOWN}"}` },
  {
    name: 'a type that is not JSON',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: json(KNOWN),
  },
];

/** What Fastify answers, since it takes more than one look. */
const OTHER: Sent[] = [
  { name: 'a URL that is not in its normal form', body: json('HTTP://192.0.2.1:80/x') },
  { name: 'a URL that is none', body: json('nonsense') },
  { name: 'a URL with an escape', body: '{"url":"http:\\/\\/192.0.2.1\\/x"}' },
  { name: 'a URL beyond ASCII', body: json('http://b\u00fccher.example/') },
  { name: 'more spaces', body: `{ "url" : "${KNOWN}" }` },
  { name: 'another key besides', body: `{"url":"${KNOWN}","ip":"192.0.2.1"}` },
  { name: 'a key twice', body: `{"url":"${UNKNOWN}","url":"${KNOWN}"}` },
  { name: 'another key', body: '{"ip":"192.0.2.1"}' },
  { name: 'a number', body: '{"url":1}' },
  { name: 'no JSON', body: '{"url":"' },
  { name: 'nothing', body: '' },
  { name: 'a URL that is too long', body: json(`http://192.0.2.1/${'x'.repeat(10_000)}`) },
  { name: 'more than is taken', body: json(`http://192.0.2.1/${'x'.repeat(70_000)}`) },
  { name: 'an address with a question', path: `${BASE}/last?x=1`, body: json(KNOWN) },
  { name: 'an address with a slash', path: `${BASE}/last/`, body: json(KNOWN) },
  { name: 'another method', method: 'GET', body: '' },
];

const head = ({ method = 'POST', path = `${BASE}/last`, headers = {} }: Partial<Sent>) =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: a',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n');

const message = (sent: Sent) =>
  `${head(sent)}\r\nContent-Length: ${Buffer.byteLength(sent.body)}\r\nConnection: close\r\n\r\n${sent.body}`;

async function ask(port: number, text: string): Promise<RawAnswer> {
  const [answer, ...others] = parseAnswers((await exchange(port, text)).text);
  assert.deepEqual(others, []);
  return withoutTimes(answer as RawAnswer);
}

/** The same question to Fastify alone, and the answer as `raw.ts` reads it. */
async function injected(app: FastifyInstance, sent: Sent): Promise<RawAnswer> {
  const { method = 'POST', path = `${BASE}/last`, headers = {}, body } = sent;
  const answer = await app.inject({ method, url: path, headers: { host: 'a', ...headers }, payload: body });
  const fields = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
  return withoutTimes({
    statusCode: answer.statusCode,
    headers: Object.fromEntries(fields),
    body: answer.rawPayload.toString('latin1'),
  });
}

/** Without what is of the moment or of the connection. */
function withoutTimes({ headers: { date, connection, 'keep-alive': keepAlive, ...headers }, ...rest }: RawAnswer) {
  return { ...rest, headers };
}

/** Of two answers to the same question each was counted. */
function withoutCounts({ statusCode, headers: { ratelimit, ...headers }, body }: RawAnswer) {
  return { statusCode, headers: { ...headers, isCounted: ratelimit !== undefined }, body };
}

describe('a look-up answered before Fastify', () => {
  test('is answered as Fastify answers it', async (t) => {
    const { app, port } = await serve(t, { observations: TOLD });
    for (const sent of [...PLAIN, ...OTHER]) {
      await t.test(sent.name, async () => {
        const direct = withoutCounts(await ask(port, message(sent)));
        assert.deepEqual(direct, withoutCounts(await injected(app, sent)));
      });
    }
  });

  test('does not reach Fastify', async (t) => {
    const { app, port } = await serve(t, { observations: TOLD });
    for (const sent of PLAIN) {
      const error = Object.assign(new Error('Fastify was reached'), { statusCode: 400 });
      app.server.prependOnceListener('request', (request) => handOver(request, { refusal: { error, headers: {} } }));
      assert.notEqual((await ask(port, message(sent))).statusCode, 400, sent.name);
    }
  });

  test('comes in pieces, in chunks, and several at once', async (t) => {
    const { port } = await serve(t, { observations: TOLD });
    const [known, unknown] = [
      { name: '', body: json(KNOWN) },
      { name: '', body: json(UNKNOWN) },
    ];
    const socket = open(port);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    const ended = once(socket, 'close');
    for (const piece of [...message(known).replace('Connection: close\r\n', '')].map(String)) {
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const chunks = `${head(known)}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n${(known.body.length - 2).toString(16)}\r\n${known.body.slice(2)}\r\n0\r\n\r\n`;
    socket.write(chunks + message(unknown).replace('Connection: close\r\n', '') + message(known));
    await ended;
    assert.deepEqual(
      parseAnswers(text).map(({ statusCode }) => statusCode),
      [200, 200, 404, 200],
    );
  });

  test('that breaks off is nobody’s, and the next one is answered', async (t) => {
    const { port } = await serve(t, { observations: TOLD });
    const socket = open(port);
    socket.write(`${head({})}\r\nContent-Length: 40\r\n\r\n{"url":`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.destroy();
    assert.equal((await ask(port, message({ name: '', body: json(KNOWN) }))).statusCode, 200);
  });

  test('is counted, and refused with the same words when the limit is reached', async (t) => {
    const { port, authorization, world } = await accounts(t, 3);
    const sent: Sent = { name: '', headers: { authorization }, body: json(KNOWN) };
    await ask(port, message(sent)); // its token is new, so that Fastify answers
    assert.match((await ask(port, message(sent))).headers.ratelimit ?? '', /^"qmh";r=1;/);
    assert.match((await ask(port, message({ ...sent, body: json(UNKNOWN) }))).headers.ratelimit ?? '', /^"qmh";r=0;/);
    const refused = await ask(port, message(sent));
    assert.equal(refused.statusCode, 429);
    assert.deepEqual(refused, await injected(world.app, sent));
    assert.equal((await world.counters.read(world.sub)).counts.month, 3);
    assert.match(await world.metrics.text(), /urlwarden_limit_refusals_total\{limit="qmh"\} 2\n/);
  });

  test('is recorded by status', async (t) => {
    const { port, authorization, world } = await accounts(t, 10);
    const headers = { authorization };
    for (const body of [json(KNOWN), json(KNOWN), json(UNKNOWN), 'no JSON'])
      await ask(port, message({ name: '', headers, body }));
    const text = await world.metrics.text();
    for (const [status, count] of [
      [200, 2],
      [404, 1],
      [400, 1],
    ]) {
      const line = `urlwarden_http_requests_total{route="${BASE}/last",method="POST",status="${status}"} ${count}\n`;
      assert.ok(text.includes(line), line);
    }
    assert.match(text, /urlwarden_http_request_seconds_count\{[^}]*last[^}]*\} 4\n/);
  });

  for (const [name, headers] of [
    ['no token', {}],
    ['a token that is none', { authorization: 'Bearer nonsense' }],
    ['no scheme', { authorization: 'nonsense' }],
  ] as const) {
    test(`is refused as Fastify does: ${name}`, async (t) => {
      const { port, world } = await accounts(t, 10);
      const sent: Sent = { name, headers, body: json(KNOWN) };
      const refused = await ask(port, message(sent));
      assert.equal(refused.statusCode, 401);
      assert.deepEqual(refused, await injected(world.app, sent));
    });
  }

  test('that fails on our side is told as such, logged, and not charged', async (t) => {
    const logged: string[] = [];
    const store = stubStore({ urlLast: () => Promise.reject(new Error('the disk is gone')) });
    const stream = { write: (line: string) => void logged.push(line) };
    const { port, authorization, world } = await accounts(t, 10, { store, logger: { level: 'error', stream } });
    const sent: Sent = { name: '', headers: { authorization }, body: json(KNOWN) };
    for (let i = 0; i < 2; i++) assert.equal((await ask(port, message(sent))).statusCode, 500);
    assert.equal((await world.counters.read(world.sub)).counts.month, 0);
    assert.equal(logged.filter((line) => line.includes('the disk is gone')).length, 2);
  });
});

type AccountOptions = {
  store?: ReturnType<typeof stubStore>;
  logger?: { level: string; stream: { write(line: string): void } };
};

/** An account with so many queries a month, on a server that listens. */
async function accounts(t: TestContext, qmh: number, { store, logger }: AccountOptions = {}) {
  const metrics = createMetrics();
  const world = await withAccounts(
    t,
    { qmh },
    { services: store ? { store } : {}, options: { metrics, ...(logger && { logger }) } },
  );
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = world.app.server.address() as { port: number };
  return { port, authorization: await world.logIn(), world: { ...world, metrics } };
}
