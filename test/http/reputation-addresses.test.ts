import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { Value } from 'typebox/value';
import { AppError } from '../../src/core/errors.ts';
import type { AddressDataset, ListingEvidence } from '../../src/core/evidence.ts';
import { formatKeyNetwork, parseKeyNetwork } from '../../src/core/ip/key-network.ts';
import type { Static } from '../../src/http/schema.ts';
import { createAddressListCopy } from '../../src/reputation/address-lists.ts';
import { type AddressQuery, type AddressRecord, createAddressReport } from '../../src/reputation/address-report.ts';
import { RecordsResponse } from '../../src/reputation/schemas.ts';
import { URL_SOURCE } from '../../src/reputation/store.ts';
import { OPERATOR } from './admit-all.ts';
import { assertError, build, DAY, NOW } from './build.ts';
import { authorized, LIMITS, withAccounts } from './with-accounts.ts';

const CIDR = '/api/intel/v1/byobject/cidr';

const network = (text: string) => parseKeyNetwork(text) ?? assert.fail(text);
const record = (rest: Partial<AddressRecord> = {}): AddressRecord => ({
  network: network('192.0.2.1'),
  dataset: 'XBL',
  source: 'a feed',
  listedTs: NOW - 3 * DAY,
  seenTs: NOW - DAY,
  validUntilTs: NOW + 6 * DAY,
  botname: null,
  details: {},
  isShared: false,
  removedTs: null,
  ...rest,
});

type Records = (query: AddressQuery) => AddressRecord[] | Promise<AddressRecord[]>;

const finding = (records: Records) => ({ addresses: { records, liveListings: () => [] } });

/** A server that finds these records, and the queries that it was asked. */
async function serving(t: TestContext, records: AddressRecord[], asnOf: () => number | null = () => null) {
  const queries: AddressQuery[] = [];
  const find = (query: AddressQuery) => {
    queries.push(query);
    return records;
  };
  const { app } = await build(t, { services: { reputation: { ...finding(find), asnOf } } });
  return { app, queries };
}

test('a query that takes too long gets 408, and is aborted', async (t) => {
  let signal: AbortSignal | undefined;
  const find = (query: AddressQuery) => {
    signal = query.signal;
    return new Promise<never>(() => {});
  };
  const options = { queryBudgetMs: 5 };
  const { app } = await build(t, { services: { reputation: { ...finding(find), asnOf: () => null } }, options });
  assertError(await app.inject(`${CIDR}/ALL/listed/live/192.0.2.1`), 408);
  assert.equal(signal?.aborted, true);
});

type Asked = Partial<Omit<AddressQuery, 'network'>> & { network: string; cost: number };

describe('the query', () => {
  const SINGLE = { network: '192.0.2.1', mode: 'listed', type: 'live', cost: 1, limit: 500 } as const;
  const rows: [path: string, expected: Asked][] = [
    ['/ALL/listed/live/192.0.2.1', { ...SINGLE, datasets: ['XBL', 'CSS', 'BCL', 'DROP'] }],
    ['/xbl/listed/live/192.0.2.1', { ...SINGLE, datasets: ['XBL'] }],
    ['/Drop/listings/history/192.0.2.1', { ...SINGLE, mode: 'listings', type: 'history', datasets: ['DROP'] }],
    ['/CSS/listed/history/192.0.2.1/', { ...SINGLE, type: 'history', datasets: ['CSS'] }],
    ['/XBL/listed/live/192.0.2.1/32', SINGLE],
    ['/XBL/listed/live/192.0.2.77/24', { ...SINGLE, network: '192.0.2.0/24', cost: 9 }],
    ['/XBL/listed/live/192.0.2.77%2F24', { ...SINGLE, network: '192.0.2.0/24', cost: 9 }],
    ['/XBL/listed/live/192.0.2.77%2f31', { ...SINGLE, network: '192.0.2.76/31', cost: 2 }],
    ['/XBL/listings/live/192.0.2.77/24', { ...SINGLE, network: '192.0.2.0/24', mode: 'listings', cost: 9 }],
    ['/XBL/listed/live/2001:db8::1', { ...SINGLE, network: '2001:db8::/64' }],
    ['/XBL/listed/live/2001%3Adb8%3A%3A1', { ...SINGLE, network: '2001:db8::/64' }],
    ['/XBL/listed/live/2001:DB8::1/128', { ...SINGLE, network: '2001:db8::1' }],
    ['/XBL/listed/live/2001:db8::1/96', { ...SINGLE, network: '2001:db8::/96' }],
    ['/XBL/listed/live/2001:db8::1/63', { ...SINGLE, network: '2001:db8::/63', cost: 2 }],
    ['/XBL/listed/live/2001:db8::1/56', { ...SINGLE, network: '2001:db8::/56', cost: 9 }],
    ['/XBL/listed/live/::ffff:192.0.2.1', SINGLE],
    ['/XBL/listed/live/::ffff:c000:201/128', SINGLE],
    ['/XBL/listed/live/::ffff:192.0.2.1/120', { ...SINGLE, network: '192.0.2.0/24', cost: 9 }],
    ['/XBL/listed/live/::ffff:192.0.2.1/24', { ...SINGLE, network: '192.0.2.0/24', cost: 9 }],
    ['/XBL/listed/live/192.0.2.1?limit=1', { ...SINGLE, limit: 1 }],
    ['/XBL/listed/live/192.0.2.1?limit=2000&unknown=1', { ...SINGLE, limit: 2000 }],
  ];
  for (const [path, expected] of rows) {
    test(`of ${path}`, async (t) => {
      const { app, queries } = await serving(t, [record()]);
      assert.equal((await app.inject(CIDR + path)).statusCode, 200);
      const [query] = queries;
      const asked = { ...query, network: formatKeyNetwork(query?.network ?? assert.fail()) };
      assert.deepEqual({ ...asked, ...expected }, asked);
    });
  }

  test('has the address as the client wrote it if there is no mask', async (t) => {
    const { app, queries } = await serving(t, [record()]);
    for (const path of ['192.0.2.1', '2001:db8::1', '2001:db8::1/64', '192.0.2.77%2F24']) {
      await app.inject(`${CIDR}/XBL/listed/live/${path}`);
    }
    const asked = queries.map((query) => formatKeyNetwork(query.asked ?? assert.fail()));
    assert.deepEqual(asked, ['192.0.2.1', '2001:db8::1', '2001:db8::/64', '192.0.2.0/24']);
  });

  const YEAR_BEFORE = NOW - 365 * DAY;
  for (const [type, query, since, until] of [
    ['live', '', 0, Number.MAX_SAFE_INTEGER],
    ['live', '?since=5', 5, Number.MAX_SAFE_INTEGER],
    ['live', '?until=5', 0, 5],
    ['live', `?since=0&until=${NOW}`, 0, NOW],
    ['history', '', YEAR_BEFORE, NOW],
    ['history', `?since=${NOW - 366 * DAY}`, NOW - 366 * DAY, NOW],
    ['history', '?since=0&until=100', 0, 100],
    ['history', '?until=100', YEAR_BEFORE, 100],
    ['history', `?since=${NOW + DAY}`, NOW + DAY, NOW],
  ] as const) {
    test(`${type}${query} has its time window`, async (t) => {
      const { app, queries } = await serving(t, [record()]);
      assert.equal((await app.inject(`${CIDR}/XBL/listed/${type}/192.0.2.1${query}`)).statusCode, 200);
      assert.deepEqual([queries[0]?.sinceTs, queries[0]?.untilTs], [since, until]);
    });
  }
});

describe('the order of checks', () => {
  const refuse = () => {
    throw new AppError('unauthorized', 'No token');
  };
  const withDatasets = (...ads: string[]) => ({
    authenticate: () => ({ ...OPERATOR, limits: { ...OPERATOR.limits, ads } }),
  });

  test('an unknown mode or type is 404 before the token is checked', async (t) => {
    const { app } = await build(t, { services: { authenticate: refuse } });
    for (const path of [
      '/x/x/live/x',
      '/x/listed/x/x',
      '/x/LISTED/live/x',
      '/x/listed/Live/x/99',
      '/x/listed/live',
      '/x',
    ])
      assertError(await app.inject(CIDR + path), 404, /This path does not exist/);
    assertError(
      await app.inject({ method: 'PUT', url: `${CIDR}/XBL/x/live/1` }),
      404,
      /mode must be listed or listings/,
    );
    assertError(await app.inject(`${CIDR}/XBL/listed/x/1`), 404, /type must be live or history/);
  });

  test('a wrong method is 405, then the token is checked', async (t) => {
    const { app } = await build(t, { services: { authenticate: refuse } });
    assertError(await app.inject({ method: 'POST', url: `${CIDR}/x/listed/live/x` }), 405);
    assertError(await app.inject(`${CIDR}/x/listed/live/x`), 401);
  });

  test('an unknown dataset is 400 with the names, before the access and before the address', async (t) => {
    const { app } = await build(t, { services: withDatasets() });
    for (const dataset of ['x', 'URL', 'DOMAIN', 'XBL,CSS', '%00', '%', 'a'.repeat(1000)])
      assertError(await app.inject(`${CIDR}/${dataset}/listed/live/x/y?limit=0`), 400, /XBL, CSS, BCL, DROP, ALL/);
  });

  test('a dataset that the account does not have is 403 before address and limit', async (t) => {
    const { app } = await build(t, { services: withDatasets('URL', 'XBL') });
    assertError(await app.inject(`${CIDR}/drop/listed/live/x/y?limit=0`), 403, /DROP is not part of this subscription/);
    assertError(await app.inject(`${CIDR}/xbl/listed/live/x`), 400);
    const none = await build(t, { services: withDatasets('URL', 'DOMAIN') });
    assertError(await none.app.inject(`${CIDR}/all/listed/live/x`), 403, /None of the datasets XBL, CSS, BCL, DROP/);
  });

  test('ALL is what the account has', async (t) => {
    const asked: unknown[] = [];
    const reputation = finding(({ datasets }) => {
      asked.push(datasets);
      return [];
    });
    const { app } = await build(t, { services: { ...withDatasets('DROP', 'URL', 'CSS'), reputation } });
    await app.inject(`${CIDR}/ALL/listed/live/192.0.2.1`);
    assert.deepEqual(asked, [['CSS', 'DROP']]);
  });

  for (const [path, reason] of [
    ['x', /The address must be IPv4 or IPv6, such as/],
    ['192.0.2', /The address must be/],
    ['192.0.2.256', /The address must be/],
    ['[2001:db8::1]', /The address must be/],
    ['%20', /The address must be/],
    ['%zz', /The address must be/],
    ['%ff/24?x=%zz', /The address must be/],
    ['192.0.2.1/%', /24 to 32/],
    ['1'.repeat(5000), /The address must be/],
    ['192.0.2.1/x', /The mask must be a decimal integer, 24 to 32 for IPv4/],
    ['192.0.2.1/33', /24 to 32/],
    ['192.0.2.1/024', /24 to 32/],
    ['192.0.2.1%2F', /24 to 32/],
    ['192.0.2.1/-1', /24 to 32/],
    ['192.0.2.1%2F24%2F24', /24 to 32/],
    ['192.0.2.1/23', /not be wider than \/24 for IPv4/],
    ['192.0.2.1/0', /not be wider than \/24/],
    ['::ffff:192.0.2.1/119', /not be wider than \/24/],
    ['::ffff:192.0.2.1/64', /24 to 32/],
    ['2001:db8::/55', /not be wider than \/56 for IPv6/],
    ['2001:db8::/129', /56 to 128 for IPv6/],
    ['192.0.2.1%2F24/24', /The mask must be given once/],
    ['192.0.2.1?limit=0', /"limit" must be a decimal integer, 1 to 2000/],
    ['192.0.2.1?limit=2001', /1 to 2000/],
    ['192.0.2.1?limit=x', /1 to 2000/],
    ['192.0.2.1?limit=1&limit=1', /must be sent once/],
    ['192.0.2.1?since=x', /"since" must be/],
    ['192.0.2.1?until=-1', /"until" must be/],
    ['192.0.2.1?since=2&until=1', /must not be after/],
  ] as const) {
    test(`${path.slice(0, 40)} is 400`, async (t) => {
      const { app, queries } = await serving(t, [record()]);
      for (const type of ['live', 'history'])
        assertError(await app.inject(`${CIDR}/ALL/listed/${type}/${path}`), 400, reason);
      assert.equal(queries.length, 0);
    });
  }

  test('a history of more than 366 days is 400', async (t) => {
    const { app } = await serving(t, [record()]);
    for (const query of ['since=0', `since=${NOW - 366 * DAY - 1}`, `since=0&until=${366 * DAY + 1}`])
      assertError(await app.inject(`${CIDR}/XBL/listed/history/192.0.2.1?${query}`), 400, /366 days/);
  });
});

describe('the response', () => {
  const responseTo = async (t: TestContext, records: AddressRecord[], asnOf: () => number | null = () => null) => {
    const { app } = await serving(t, records, asnOf);
    const response = await app.inject(`${CIDR}/ALL/listed/live/192.0.2.1`);
    assert.equal(response.statusCode, 200);
    assert.match(String(response.headers['content-type']), /^application\/json/);
    const body: Static<typeof RecordsResponse> = response.json();
    assert.ok(Value.Check(RecordsResponse, body), response.body);
    assert.ok(!response.body.includes('null'));
    return body;
  };
  const TIMES = { listed: NOW - 3 * DAY, seen: NOW - DAY, valid_until: NOW + 6 * DAY };
  // printf 'a feed' | sha256sum
  const RULE = { rule: '5723f338', heuristic: 'FEED' };

  const rows: [what: string, record: Partial<AddressRecord>, expected: object][] = [
    ['XBL has botname, rule and heuristic', {}, { dataset: 'XBL', botname: 'unknown', ...RULE }],
    [
      'XBL from URLs',
      { source: URL_SOURCE.name, botname: 'Mirai' },
      // printf 'URL data' | sha256sum
      { dataset: 'XBL', botname: 'Mirai', rule: '2bcb69e7', heuristic: 'MALWARE_URL' },
    ],
    [
      'XBL with what the evidence says',
      { details: { heuristic: 'SINKHOLE', srcport: 5, domain: 'x"y' } },
      { dataset: 'XBL', botname: 'unknown', ...RULE, heuristic: 'SINKHOLE', srcport: 5, domain: 'x"y' },
    ],
    ['CSS without any', { dataset: 'CSS' }, { dataset: 'CSS' }],
    ['CSS with a family', { dataset: 'CSS', botname: 'x' }, { dataset: 'CSS', botname: 'x' }],
    [
      'BCL has botname and shared',
      { dataset: 'BCL', isShared: true, details: { abused: false, shared: false, dstport: 443 } },
      { dataset: 'BCL', botname: 'unknown', dstport: 443, abused: false, shared: true },
    ],
    ['BCL outside of shared ranges', { dataset: 'BCL' }, { dataset: 'BCL', botname: 'unknown', shared: false }],
    [
      'a network is CIDR',
      { dataset: 'DROP', network: network('198.51.100.0/22') },
      { dataset: 'DROP', ipaddress: '198.51.100.0/22' },
    ],
    [
      'an IPv6 network',
      { dataset: 'DROP', network: network('2001:db8::/32') },
      { dataset: 'DROP', ipaddress: '2001:db8::/32' },
    ],
    ['a removal', { dataset: 'DROP', removedTs: NOW }, { dataset: 'DROP', remove_timestamp: NOW }],
    [
      'asn of the evidence, and all other keys',
      {
        dataset: 'DROP',
        details: {
          asn: '64500',
          cc: 'XX',
          detection: 'd',
          dstip: '192.0.2.9',
          helo: 'h',
          lat: 1.5,
          lon: -2,
          protocol: 'tcp',
          srcip: '192.0.2.8',
          subject: 's',
          unexpected: 1,
        },
      },
      {
        dataset: 'DROP',
        asn: '64500',
        cc: 'XX',
        detection: 'd',
        dstip: '192.0.2.9',
        helo: 'h',
        lat: 1.5,
        lon: -2,
        protocol: 'tcp',
        srcip: '192.0.2.8',
        subject: 's',
      },
    ],
  ];
  for (const [what, given, expected] of rows) {
    test(what, async (t) => {
      const body = await responseTo(t, [record(given)]);
      assert.deepEqual(body, { code: 200, results: [{ ipaddress: '192.0.2.1', ...TIMES, ...expected }] });
    });
  }

  test('the table of networks wins over the asn of the evidence', async (t) => {
    const { results } = await responseTo(t, [record({ details: { asn: '1' } }), record()], () => 4_294_967_295);
    assert.deepEqual(
      results.map(({ asn }) => asn),
      ['4294967295', '4294967295'],
    );
  });

  test('several records stay in their order, and a store may answer later', async (t) => {
    const records = [record({ dataset: 'CSS' }), record({ dataset: 'DROP' })];
    const { app } = await build(t, { services: { reputation: finding(async () => records) } });
    const { results } = (await app.inject(`${CIDR}/ALL/listings/live/192.0.2.1`)).json();
    assert.deepEqual(
      results.map(({ dataset }: { dataset: string }) => dataset),
      ['CSS', 'DROP'],
    );
  });

  test('nothing found is 404, never an empty list', async (t) => {
    const { app } = await serving(t, []);
    for (const path of ['/ALL/listed/live/192.0.2.1', '/XBL/listings/history/192.0.2.0/24'])
      assertError(await app.inject(CIDR + path), 404, /Nothing is listed/);
  });

  test('HEAD is like GET without a body', async (t) => {
    const { app } = await serving(t, [record()]);
    const response = await app.inject({ method: 'HEAD', url: `${CIDR}/ALL/listed/live/192.0.2.1` });
    assert.deepEqual([response.statusCode, response.body], [200, '']);
    assert.ok(Number(response.headers['content-length']) > 100);
  });
});

test('a query counts by its network, whatever it finds; a bad request does not count', async (t) => {
  const { app, logIn } = await withAccounts(t, { ads: ['XBL'] });
  const token = await logIn();
  const counts = async () => (await app.inject(authorized(LIMITS, token))).json().current.qpm;
  const get = (path: string): InjectOptions => ({ method: 'GET', url: `${CIDR}${path}` });
  let total = 0;
  for (const [path, status, weight] of [
    ['/XBL/listed/live/192.0.2.77', 404, 1],
    ['/ALL/listings/history/192.0.2.77/24', 404, 9],
    ['/XBL/listed/live/2001:db8::/56', 404, 9],
    ['/XBL/listed/live/2001:db8::1/128', 404, 1],
    ['/DROP/listed/live/192.0.2.77', 403, 0],
    ['/XBL/listed/live/192.0.2.77/8', 400, 0],
    ['/nothing/listed/live/192.0.2.77', 400, 0],
  ] as const) {
    assertError(await app.inject(authorized(get(path), token)), status);
    total += weight;
    assert.equal(await counts(), total, path);
  }
});

describe('with stored listings', () => {
  const evidence = (text: string, dataset: AddressDataset, days: number): ListingEvidence => ({
    source: 'a feed',
    network: network(text),
    dataset,
    family: null,
    port: null,
    listedTs: NOW - days * DAY,
    ts: NOW - days * DAY,
    details: '',
  });
  const found = async ({ app }: Awaited<ReturnType<typeof build>>, path: string) => {
    const response = await app.inject(CIDR + path);
    if (response.statusCode === 404) return [];
    return response.json().results.map(({ ipaddress }: { ipaddress: string }) => ipaddress);
  };

  test('one address that a wider listing covers is listed, unless --listed-exact is set', async (t) => {
    const built = await build(t);
    const { store } = built;
    await store.applyListings([
      evidence('203.0.112.0/20', 'DROP', 1),
      evidence('203.0.113.7', 'XBL', 2),
      evidence('203.0.113.8', 'CSS', 4),
      evidence('2001:db8::/48', 'DROP', 1),
    ]);
    const wide = '203.0.112.0/20';
    for (const [path, expected] of [
      ['/ALL/listed/live/203.0.113.7', [wide, '203.0.113.7']],
      ['/ALL/listed/live/203.0.113.9', [wide]],
      ['/XBL/listed/live/203.0.113.9', []],
      ['/ALL/listed/live/203.0.113.0/24', ['203.0.113.7']],
      ['/ALL/listed/history/203.0.113.0/24', ['203.0.113.7', '203.0.113.8']],
      ['/ALL/listed/history/203.0.113.0/24?limit=1', ['203.0.113.7']],
      [`/ALL/listed/history/203.0.113.0/24?until=${NOW - 4 * DAY}`, ['203.0.113.8']],
      ['/ALL/listings/live/203.0.113.0/24', [wide]],
      ['/ALL/listings/live/203.0.113.7', [wide, '203.0.113.7']],
      ['/ALL/listed/live/2001:db8::1', ['2001:db8::/48']],
      ['/ALL/listed/live/2001:db8::1/63', []],
      ['/ALL/listed/live/198.51.100.1', []],
    ] as const) {
      assert.deepEqual(await found(built, path), expected, path);
    }
    const lists = createAddressListCopy(store, { nowMs: () => NOW * 1000 });
    const options = { store, lists, now: () => NOW, allowReserved: true, listedExact: true };
    const exact = await build(t, { services: { store, reputation: { addresses: createAddressReport(options) } } });
    assert.deepEqual(await found(exact, '/ALL/listed/live/203.0.113.7'), ['203.0.113.7']);
    assert.deepEqual(await found(exact, '/ALL/listed/live/203.0.113.9'), []);
    assert.deepEqual(await found(exact, '/ALL/listings/live/203.0.113.9'), [wide]);
  });
});
