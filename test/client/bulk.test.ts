import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import {
  type BulkInput,
  LimitReachedError,
  type LimitWait,
  TruncatedStreamError,
  UrlwardenClient,
} from '../../src/client/index.ts';
import { until } from '../until.ts';
import { type Received, sendError, sendLines, startScripted } from './scripted-server.ts';

type Line = { url: string; ref?: string | number };
type Answer = (response: ServerResponse, lines: Line[], count: number) => void;

/** A server that speaks the contract of the bulk lookup. */
async function start(t: TestContext, answer: Answer, options: { deadlineSeconds?: number } = {}) {
  const linesOf = ({ body }: Received): Line[] =>
    body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const { baseUrl, received } = await startScripted(t, (response, request, count) =>
    answer(response, linesOf(request), count),
  );
  const client = new UrlwardenClient({ baseUrl, token: 'a-token', ...options });
  return { client, requests: () => received.map((request) => linesOf(request).map(({ url }) => url)), received };
}

const unknown = (lines: Line[]) =>
  lines.map(({ ref }, index) => ({ n: index + 1, ...(ref !== undefined && { ref }), found: false }));
const answerAll: Answer = (response, lines) => sendLines(response, [...unknown(lines), { end: true }]);
const stopAt = (response: ServerResponse, lines: Line[], n: number, limit: string, seconds: number) =>
  sendLines(response, [...unknown(lines.slice(0, n - 1)), { end: true, stopped_at: n, limit, retry_after: seconds }]);

async function collect<T>(lines: AsyncIterable<T>, into: T[] = []): Promise<T[]> {
  for await (const line of lines) into.push(line);
  return into;
}

test('any iterable is split into requests, and the lines keep their order', async (t) => {
  const { client, requests, received } = await start(t, answerAll);
  async function* urls(): AsyncGenerator<BulkInput> {
    yield { url: 'http://a.example/', ref: 'first' };
    yield* ['http://b.example/', 'http://c.example/', '', { url: 'http://e.example/', ref: 0 }];
  }
  const lines = await collect(client.url.bulk(urls(), { batchLines: 2, view: 'status' }));
  assert.deepEqual(
    lines.map(({ n, input, ref }) => [n, input, ref]),
    [
      [1, 'http://a.example/', 'first'],
      [2, 'http://b.example/', undefined],
      [3, 'http://c.example/', undefined],
      [4, '', undefined],
      [5, 'http://e.example/', 0],
    ],
  );
  assert.deepEqual(
    requests().map((request) => request.length),
    [2, 2, 1],
  );
  assert.equal(received[0]?.path, '/api/intel/v2/byobject/url/bulk?view=status');
  assert.deepEqual(await collect(client.url.bulk([])), []);
  assert.equal(received.length, 3, 'an empty list needs no request');
});

test('a limit that is reached half way is waited for, and the rest is sent again', async (t) => {
  const times: number[] = [];
  const answer: Answer = (response, lines, count) => {
    times.push(Date.now());
    if (count === 1) stopAt(response, lines, 2, 'rl_qpm', 0.2);
    else if (count === 2) sendError(response, 429, 'The limit rl_qph is reached', { 'retry-after': '2' });
    else answerAll(response, lines, count);
  };
  const { client, requests } = await start(t, answer, { deadlineSeconds: 1 });
  const waits: LimitWait[] = [];
  const lines = await collect(client.url.bulk(['a', 'b', 'c'], { onWait: (wait) => waits.push(wait) }));
  assert.deepEqual(waits, [
    { limit: 'rl_qpm', seconds: 0.2 },
    { limit: 'rl_qph', seconds: 2 },
  ]);
  assert.deepEqual(
    lines.map(({ n, input }) => [n, input]),
    [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ],
  );
  assert.deepEqual(requests(), [
    ['a', 'b', 'c'],
    ['b', 'c'],
    ['b', 'c'],
  ]);
  const [first = 0, second = 0, third = 0] = times;
  assert.ok(second - first >= 190);
  assert.ok(third - second >= 1990, 'the deadline of one second does not end a bulk lookup');
});

test('the monthly limit is thrown after the lines before it', async (t) => {
  const { client } = await start(t, (response, lines) => stopAt(response, lines, 3, 'qmh', 86_400));
  const lines: unknown[] = [];
  const failed = collect(client.url.bulk(['a', 'b', 'c', 'd']), lines as never[]);
  await assert.rejects(failed, (error) => {
    assert.ok(error instanceof LimitReachedError);
    assert.equal(error.limit, 'qmh');
    assert.equal(error.retryAfterSeconds, 86_400);
    assert.equal(error.requestId, 'request-17');
    assert.match(error.message, /line 3/);
    return true;
  });
  assert.equal(lines.length, 2);
});

test('a bound of the request is no reason to wait', async (t) => {
  const { client, requests } = await start(t, (response, lines, count) => {
    if (count === 1) stopAt(response, lines, 2, 'bytes', 3600);
    else answerAll(response, lines, count);
  });
  assert.equal((await collect(client.url.bulk(['a', 'b']))).length, 2);
  assert.deepEqual(requests(), [['a', 'b'], ['b']]);
});

const CUTS: Record<string, Answer> = {
  'without its last line': (response, lines) => sendLines(response, unknown(lines)),
  'in the middle of a line': (response, lines) => sendLines(response, unknown(lines), '{"end":tr'),
  'with a broken connection': (response, lines) => sendLines(response, unknown(lines), 'break'),
  'with too few lines': (response, lines) => sendLines(response, [...unknown(lines).slice(0, -1), { end: true }]),
};

for (const [name, answer] of Object.entries(CUTS)) {
  test(`a response that ends ${name} throws`, async (t) => {
    const { client, received } = await start(t, answer);
    await assert.rejects(collect(client.url.bulk(['a', 'b'])), (error) => {
      assert.ok(error instanceof TruncatedStreamError);
      assert.equal(error.requestId, 'request-17');
      return true;
    });
    assert.equal(received.length, 1);
  });
}

test('a loop that is left cancels the request and closes the list', async (t) => {
  let closed: Promise<unknown> | undefined;
  const { client } = await start(t, (response, lines) => {
    closed = once(response, 'close');
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write(`${JSON.stringify(unknown(lines)[0])}\n`); // and no end
  });
  let isClosed = false;
  function* urls() {
    try {
      yield* ['a', 'b', 'c'];
    } finally {
      isClosed = true;
    }
  }
  for await (const line of client.url.bulk(urls(), { batchLines: 2 })) {
    assert.equal(line.n, 1);
    break;
  }
  assert.ok(isClosed);
  await closed;
});

test('a signal ends the wait for the list, which is closed', { timeout: 30_000 }, async (t) => {
  const { client, received } = await start(t, answerAll);
  const controller = new AbortController();
  const { signal } = controller;
  let asked = 0;
  let closed = 0;
  const urls: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => urls,
    async next() {
      asked += 1;
      return asked <= 2 ? { value: 'http://a.example/' } : new Promise(() => {});
    },
    return() {
      closed += 1;
      return new Promise(() => {});
    },
  };
  const lines = client.url.bulk(urls, { batchLines: 1, signal });
  assert.equal((await lines.next()).value?.n, 1);
  const next = lines.next();
  await until(() => asked === 3, 'the list is asked for the next URL');
  const reason = new Error('no longer needed');
  controller.abort(reason);
  await assert.rejects(next, reason);
  assert.deepEqual([received.length, closed], [1, 1]);
  await assert.rejects(client.url.bulk(urls, { signal }).next(), reason);
  assert.deepEqual([received.length, asked, closed], [1, 3, 2]);
});

test('a list that is read with a signal is read and closed as without one', async (t) => {
  const { client } = await start(t, answerAll);
  const { signal } = new AbortController();
  const closed: string[] = [];
  async function* urls(name: string, fault?: Error) {
    try {
      yield* ['a', 'b', 'c'];
      if (fault !== undefined) throw fault;
    } finally {
      await null;
      closed.push(name);
    }
  }
  assert.equal((await collect(client.url.bulk(urls('read'), { batchLines: 2, signal }))).length, 3);
  for await (const _line of client.url.bulk(urls('left'), { batchLines: 1, signal })) break;
  const fault = new Error('the file cannot be read');
  await assert.rejects(collect(client.url.bulk(urls('failed', fault), { batchLines: 1, signal })), fault);
  assert.deepEqual(closed, ['read', 'left', 'failed']);
  assert.equal((await collect(client.url.bulk(new Set(['a', 'b']), { signal }))).length, 2);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('no request is larger than the server takes', async (t) => {
  const { client, received } = await start(t, answerAll);
  const long = `http://example.com/${'ü'.repeat(60_000)}`;
  const lines = await collect(client.url.bulk([...Array(100).fill(long), 'x'.repeat(9_000_000)]));
  assert.equal(lines.length, 101);
  assert.equal(lines.at(-1)?.input.length, 9_000_000);
  const sizes = received.map(({ body }) => Buffer.byteLength(body));
  assert.ok(Math.max(...sizes) <= 8 * 1024 * 1024, `${sizes}`);
  assert.ok(
    (received.at(-1)?.body.trimEnd().split('\n').at(-1)?.length ?? 0) > 64 * 1024,
    'the line is still too long',
  );
});

test('a single URL is no list', async (t) => {
  const { client } = await start(t, answerAll);
  await assert.rejects(collect(client.url.bulk('http://example.com/')), /url\.last/);
});
