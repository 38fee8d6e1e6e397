import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { LimitReachedError, UrlwardenClient } from '../../src/client/index.ts';
import type { Tier } from '../../src/core/tier.ts';
import { DAY, NOW } from '../http/build.ts';
import { PASSWORD, USERNAME, withAccounts } from '../http/with-accounts.ts';
import { until } from '../until.ts';

const KNOWN = 'http://192.0.2.1/x';

/** A client of a real server. `sent` has the lines and the status of each bulk request that is answered. */
async function connect(t: TestContext, limits: Partial<Tier> = {}) {
  const world = await withAccounts(t, limits);
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const baseUrl = `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}`;
  const sent: [lines: number, status: number][] = [];
  const countingFetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (String(input).includes('/bulk')) sent.push([String(init?.body).split('\n').length - 1, response.status]);
    return response;
  };
  const client = new UrlwardenClient({ baseUrl, username: USERNAME, password: PASSWORD, fetch: countingFetch });
  return { world, client, sent };
}

/** Twenty lines, 18 of them distinct URLs. Repetitions follow at once, so that they are part of the same request. */
const URLS = [
  'http://a.example/1',
  'no URL',
  KNOWN,
  'HTTP://192.0.2.1:80/x#top',
  ...Array.from({ length: 16 }, (_, i) => `http://a.example/${i + 2}`),
];
const DISTINCT = 18;
const RESULTS = URLS.map((url, i) => [i + 1, url, i === 1 ? 400 : i === 2 || i === 3]);

type Client = Awaited<ReturnType<typeof connect>>;

async function collect({ client }: Client, lines: unknown[], batchLines = 10_000): Promise<void> {
  for await (const { n, input, error, found } of client.url.bulk(URLS, { batchLines })) {
    lines.push([n, input, error?.code ?? found]);
  }
}

type Case = { limit: 'rl_qpm' | 'rl_qph'; limits: Partial<Tier>; seconds: number; batchLines: number };

/** `requests`: those that are answered in each window. */
const WINDOWS: (Case & { requests: [lines: number, status: number][][] })[] = [
  {
    limit: 'rl_qpm',
    limits: { rlQpm: 7 },
    seconds: 60,
    batchLines: 10_000,
    requests: [[[20, 200]], [[11, 200]], [[4, 200]]],
  },
  {
    limit: 'rl_qph',
    limits: { rlQph: 7 },
    seconds: 3600,
    batchLines: 10_000,
    requests: [[[20, 200]], [[11, 200]], [[4, 200]]],
  },
  // The second window is used up by the end of a request, so the next one is refused.
  {
    limit: 'rl_qpm',
    limits: { rlQpm: 7 },
    seconds: 60,
    batchLines: 4,
    requests: [
      [
        [4, 200],
        [4, 200],
        [4, 200],
      ],
      [
        [3, 200],
        [4, 200],
        [4, 429],
      ],
      [[4, 200]],
    ],
  },
];

for (const { limit, limits, seconds, batchLines, requests } of WINDOWS) {
  test(`${limit}, reached half way, is waited for: requests of ${batchLines} lines`, async (t) => {
    const connected = await connect(t, limits);
    const { world, client, sent } = connected;
    const lines: unknown[] = [];
    // The last second of a window: the server says that the next one begins in a second.
    await world.setNow(NOW + seconds - 1);
    const finished = collect(connected, lines, batchLines);
    for (const [window, distinct] of [7, 14].entries()) {
      // Two of the lines cost nothing.
      await until(() => lines.length === distinct + 2, `window ${window + 1} is used up`);
      const soFar = requests.slice(0, window + 1).flat();
      await until(() => sent.length === soFar.length && world.counters.countStreams() === 0, 'its requests have ended');
      const { current } = await client.limits();
      assert.deepEqual([current.qpm, current[limit]], [distinct, 7]);
      await world.setNow(NOW + (window + 2) * seconds - 1);
    }
    await finished;
    assert.deepEqual(lines, RESULTS);
    const { current } = await client.limits();
    assert.deepEqual([current.qpm, current[limit]], [DISTINCT, 4]);
    assert.deepEqual(sent, requests.flat());
  });
}

test('rl_qps, reached half way, is waited for inside the request', async (t) => {
  const connected = await connect(t, { rlQps: 7 });
  const { world, client, sent } = connected;
  const lines: unknown[] = [];
  const finished = collect(connected, lines);
  for (const [second, distinct] of [7, 14].entries()) {
    await until(() => lines.length === distinct + 2, 'the lines of a second are read');
    await world.setNow(NOW + second + 1);
  }
  await finished;
  assert.deepEqual(lines, RESULTS);
  assert.deepEqual([(await client.limits()).current.qpm, sent], [DISTINCT, [[20, 200]]]);
});

test('qmh, reached half way, is thrown after the lines before it', async (t) => {
  const connected = await connect(t, { qmh: 11 });
  const { client, sent } = connected;
  const lines: unknown[] = [];
  for (const [requests, count] of [
    [1, 13],
    [2, 13], // the second time before the first line
  ]) {
    await assert.rejects(collect(connected, lines), (error) => {
      assert.ok(error instanceof LimitReachedError);
      assert.deepEqual([error.limit, error.retryAfterSeconds], ['qmh', 31 * DAY]);
      return true;
    });
    assert.deepEqual(lines, RESULTS.slice(0, count));
    assert.deepEqual([(await client.limits()).current.qpm, sent.length], [11, requests]);
  }
});
