import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import {
  AuthenticationError,
  BadRequestError,
  type ClientOptions,
  ForbiddenError,
  LimitReachedError,
  TruncatedStreamError,
  UnavailableError,
  UrlwardenClient,
  UrlwardenError,
} from '../../src/client/index.ts';
import type { Tier } from '../../src/core/tier.ts';
import { deadUrl } from '../example-runs.ts';
import { DAY, linesOf, NOW, stubStore, until } from '../http/build.ts';
import { PASSWORD, USERNAME, withAccounts } from '../http/with-accounts.ts';

const KNOWN = 'http://192.0.2.1/x';

type Requests = { logins: number; others: number; answered: number };

/** A client of a real server with one account, how many requests it sent, and how many were answered. */
async function connect(t: TestContext, limits: Partial<Tier> = {}, overrides: Parameters<typeof withAccounts>[2] = {}) {
  const world = await withAccounts(t, limits, overrides);
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const baseUrl = `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}/`;
  const requests: Requests = { logins: 0, others: 0, answered: 0 };
  const countingFetch: typeof fetch = async (input, init) => {
    requests[String(input).endsWith('/login') ? 'logins' : 'others'] += 1;
    const response = await fetch(input, init);
    requests.answered += 1;
    return response;
  };
  const client = new UrlwardenClient({ baseUrl, username: USERNAME, password: PASSWORD, fetch: countingFetch });
  return { world, client, requests, baseUrl };
}

async function collect<T>(lines: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

test('every call returns what the server knows', async (t) => {
  const { client, requests } = await connect(t);
  assert.equal(await client.url.id(KNOWN), 1);
  const last = await client.url.last('HTTP://192.0.2.1:80/x#top');
  assert.equal(last?.url, KNOWN);
  assert.equal(last.payload?.['malware-family'], 'Mirai');
  assert.equal(last.status?.status, 'online');
  assert.equal((await client.url.history(KNOWN))?.events.length, 1);
  assert.equal((await collect(client.url.statuses(1))).length, 1);
  assert.equal((await collect(client.url.statuses(1, { since: 0, until: 1 }))).length, 0);
  assert.equal((await collect(client.url.payloads(1, { limit: 1 })))[0]?.sha256_hash, 'ab'.repeat(32));
  const since = new Date((NOW - DAY) * 1000);
  assert.deepEqual(await collect(client.url.search({ asn: 64500 }, { since })), [{ ts: NOW - 10, id: 1, url: KNOWN }]);

  const ofMilliseconds = client.url.search({ asn: 64500 }, { since: Date.now() });
  const refusal = { name: 'TypeError', message: 'since must be Unix seconds or a Date, not milliseconds' };
  await assert.rejects(() => collect(ofMilliseconds), refusal);

  assert.equal((await client.address.listed('192.0.2.1')).results[0]?.heuristic, 'MALWARE_URL');
  assert.equal((await client.address.listed('192.0.2.0/24', { dataset: 'XBL', type: 'history' })).results.length, 1);
  assert.equal((await client.address.listings('192.0.2.1')).results.length, 1);

  const { domain } = client;
  assert.equal((await domain.get('site.example'))?.domain, 'site.example');
  assert.equal((await domain.overview('site.example'))?.dimensions.malware, -18.1);
  assert.equal((await domain.dimensions('site.example'))?.human, 0);
  assert.equal((await domain.listing('site.example'))?.['is-listed'], true);
  assert.equal((await domain.explain('site.example'))?.reasons[0]?.dimension, 'malware');
  assert.equal((await domain.contexts('site.example'))?.[0]?.context, 'urls');
  assert.equal((await domain.hostnames('site.example', { limit: 1 }))?.[0]?.hostname, 'site.example');
  assert.equal((await domain.urls('site.example'))?.[0]?.url, 'http://site.example/x');
  for (const list of [domain.addresses, domain.nameServers, domain.senders, domain.files]) {
    assert.deepEqual(await list('site.example'), []);
  }

  assert.ok((await client.catalogue.publicSuffixes()).includes('co.uk'));
  assert.equal((await client.catalogue.tags())[0]?.tag, 'malware');
  assert.equal((await client.catalogue.contexts())[0]?.context, 'urls');
  assert.ok((await client.catalogue.dimensions()).some(({ dimension }) => dimension === 'smtp'));

  assert.equal((await client.limits()).account.usr, USERNAME);
  assert.deepEqual([client.rate?.policies.length, client.rate?.policies[0]?.windowSeconds], [4, 1]);
  assert.equal(requests.logins, 1);
});

test('bulk: what is not a string is an error of its line', async (t) => {
  const { client } = await connect(t);
  const cells = [KNOWN, undefined, { ref: 'row 3' }, 7] as string[];
  const lines = await collect(client.url.bulk(cells));
  assert.deepEqual(
    lines.map(({ ref, error }) => [ref, error?.code]),
    [
      [undefined, undefined],
      [undefined, 400],
      ['row 3', 400],
      [undefined, 400],
    ],
  );
});

test('bulk: a URL object is the same as its text', async (t) => {
  const { client } = await connect(t);
  const lines = await collect(client.url.bulk([new URL(KNOWN), { url: new URL(KNOWN), ref: 'row 2' }]));
  assert.deepEqual(
    lines.map(({ input, ref, found }) => [input, ref, found]),
    [
      [KNOWN, undefined, true],
      [KNOWN, 'row 2', true],
    ],
  );
});

test('unknown is null or empty, not an error', async (t) => {
  const { client } = await connect(t);
  assert.equal(client.rate, null);
  assert.equal(await client.url.id('http://unknown.example/'), null);
  assert.equal(await client.url.last('http://unknown.example/'), null);
  assert.equal(await client.url.history('http://unknown.example/'), null);
  assert.deepEqual(await collect(client.url.search({ host: 'unknown.example' })), []);
  assert.deepEqual(await collect(client.url.statuses(4711)), []);
  assert.deepEqual(await collect(client.url.payloads(4711)), []);
  assert.deepEqual(await client.address.listed('198.51.100.1'), { results: [] });
  assert.equal(await client.domain.get('unknown.example'), null);
  assert.equal(await client.domain.urls('unknown.example'), null);
});

test('100 calls at once on an expired token lead to one login', async (t) => {
  const { client, requests, world } = await connect(t);
  await Promise.all(Array.from({ length: 100 }, () => client.url.last(KNOWN)));
  assert.deepEqual(requests, { logins: 1, others: 100, answered: 101 });
  await world.setNow(NOW + 2 * DAY);
  const answers = await Promise.all(Array.from({ length: 100 }, () => client.url.last(KNOWN)));
  assert.ok(answers.every((answer) => answer?.id === 1));
  assert.equal(requests.logins, 2);
});

test('a limit of a second is waited for, that of the month is thrown at once', async (t) => {
  const { client, requests, world } = await connect(t, { rlQps: 1, qmh: 2 });
  await client.url.last(KNOWN);
  assert.deepEqual([client.rate?.limit, client.rate?.remaining], ['rl_qps', 0]);
  const startMs = Date.now();
  const second = client.url.last(KNOWN);
  await until(() => requests.answered === 3); // the login, and a query that was refused
  await world.setNow(NOW + 1);
  assert.equal((await second)?.id, 1);
  assert.ok(Date.now() - startMs >= 990);
  assert.equal(requests.others, 3);
  await world.setNow(NOW + 2);
  await assert.rejects(client.url.last(KNOWN), (error) => {
    assert.ok(error instanceof LimitReachedError);
    assert.equal(error.limit, 'qmh');
    assert.equal(error.retryAfterSeconds, 31 * DAY - 2);
    return true;
  });
  assert.equal(requests.others, 4);
});

test('a stream that breaks throws after the lines before it', async (t) => {
  const store = stubStore({
    async *search() {
      yield linesOf([{ ts: 1, id: 1, url: KNOWN }]);
      throw new Error('the store failed');
    },
  });
  const { client } = await connect(t, {}, { services: { store } });
  const lines: unknown[] = [];
  await assert.rejects(async () => {
    for await (const line of client.url.search({ ip: '192.0.2.1' })) lines.push(line);
  }, TruncatedStreamError);
  assert.deepEqual(lines, [{ ts: 1, id: 1, url: KNOWN }]);
});

test('a stream that is left or aborted ends the query in the server', async (t) => {
  let running = 0;
  const store = stubStore({
    async *search(_key, _window, { signal }) {
      running += 1;
      signal.addEventListener('abort', () => {
        running -= 1;
      });
      for (;;) yield linesOf([{ ts: 1, id: 1, url: KNOWN }]).repeat(500);
    },
  });
  const { client } = await connect(t, {}, { services: { store } });
  for await (const { id } of client.url.search({ ip: '192.0.2.1' })) {
    assert.equal(id, 1);
    assert.equal(running, 1);
    break;
  }
  await until(() => running === 0);
  const controller = new AbortController();
  await assert.rejects(
    async () => {
      for await (const _ of client.url.search({ ip: '192.0.2.1' }, { signal: controller.signal })) controller.abort();
    },
    { name: 'AbortError' },
  );
  await until(() => running === 0);
});

test('errors have the request id of the server and never a credential', async (t) => {
  const { client, baseUrl, world } = await connect(t, { ads: ['URL'] });
  const authorization = await world.logIn();
  const token = authorization.replace('Bearer ', '');
  const secret = randomUUID();
  const at = (options: object) => new UrlwardenClient({ baseUrl, ...options } as ClientOptions);
  const failures: [new (...args: never[]) => Error, () => unknown][] = [
    [BadRequestError, () => client.url.last('hxxp://192.0.2.1/')],
    [BadRequestError, () => client.url.search({ ip: 'x' }).next()],
    [ForbiddenError, () => client.domain.get('site.example')],
    [AuthenticationError, () => at({ username: USERNAME, password: secret }).limits()],
    [AuthenticationError, () => at({ token: `${token}${secret}` }).limits()],
    [UnavailableError, async () => at({ baseUrl: await deadUrl(), token, deadlineSeconds: 0.2 }).limits()],
    [TypeError, () => at({ token: `${token}\n${secret}` })],
    [TypeError, () => at({ baseUrl: `http://ada:${secret}@127.0.0.1/`, token })],
    [TypeError, () => at({ baseUrl: `http://ada:${secret}@ x/`, token })],
    [TypeError, () => at({ username: USERNAME })],
    [BadRequestError, () => client.domain.get('..')],
  ];
  for (const [type, call] of failures) {
    await assert.rejects(
      async () => call(),
      (error) => {
        assert.ok(error instanceof type, inspect(error));
        const text = inspect(error, { depth: 20, showHidden: true }) + inspect(error.cause, { depth: 20 });
        for (const credential of [secret, token, PASSWORD]) assert.ok(!text.includes(credential), text);
        if (error instanceof UrlwardenError && error.status !== null) {
          assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/);
          assert.equal(error.code, error.status);
        }
        return true;
      },
    );
  }
  assert.ok(!inspect(client, { depth: 20, showHidden: true }).includes(PASSWORD));
});
