import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { detailsText, type ListingEvidence } from '../../src/core/evidence.ts';
import { parseIp } from '../../src/core/ip/address.ts';
import { parseKeyNetwork } from '../../src/core/ip/key-network.ts';
import { paths } from '../../src/core/paths.ts';
import { UsageByDayResponse } from '../../src/limits/wire.ts';
import { AddressPageResponse, DomainPageResponse, OverviewResponse } from '../../src/portal/schemas.ts';
import { createTotals } from '../../src/portal/totals.ts';
import { assertError, type Built, build, DAY, lines, NOW, type Overrides, observed, stubStore } from './build.ts';
import { authorized, withAccounts } from './with-accounts.ts';

const OBSERVATIONS: Overrides['observations'] = [
  {
    ts: NOW - 3 * DAY,
    url: 'http://www.site.example/a',
    status: 'online',
    ip: '192.0.2.1',
    asn: 64500,
    reporter: 'ada',
  },
  { ts: NOW - 2 * DAY, url: 'http://192.0.2.1/x', status: 'offline', payload: { family: 'Mirai' } },
  { ts: NOW - DAY, url: 'http://other.example/b', status: 'online', ip: '192.0.2.9', asn: 7 },
];

const NAMES = { networkOf: () => ({ asn: 64500, name: 'Example Net' }), nameOf: () => null };

const listing = (cidr: string, more: Partial<ListingEvidence> = {}): ListingEvidence => ({
  network: parseKeyNetwork(cidr) ?? assert.fail(cidr),
  dataset: 'BCL',
  source: 'feed',
  family: 'Emotet',
  port: 443,
  listedTs: NOW - DAY,
  ts: NOW - DAY,
  details: detailsText({ cc: 'DE', unknown: 1 }),
  ...more,
});

async function filled(t: Parameters<typeof build>[0], services: Overrides['services'] = {}): Promise<Built> {
  const built = await build(t, { observations: OBSERVATIONS ?? [], services: { portal: NAMES, ...services } });
  await built.store.applyListings([
    listing('192.0.2.1'),
    listing('192.0.2.0/24', {
      dataset: 'DROP',
      family: null,
      port: null,
      listedTs: NOW - 90 * DAY,
      ts: NOW - 80 * DAY,
    }),
  ]);
  const name = { hostname: 'mail.fact.example', domain: 'fact.example' };
  await built.store.applyDomains([], [{ ts: NOW - 5, name, kind: 'a', ips: [parseIp('192.0.2.1') as Uint8Array] }]);
  return built;
}

async function read({ app }: Pick<Built, 'app'>, url: string, schema: TSchema) {
  const response = await app.inject(url);
  assert.equal(response.statusCode, 200, response.body);
  assert.equal(response.headers['cache-control'], 'no-store');
  assert.deepEqual([...Value.Errors(schema, response.json())], [], response.body);
  return response.json();
}

const addressPath = (ip: string) => paths.portalAddress.replace(':ip', ip);
const networkPath = (ip: string, mask: number) =>
  `${paths.portalNetwork.replace(':ip', ip).replace(':mask', String(mask))}`;

describe('the page of an address', () => {
  test('has live and past listings, names and URLs', async (t) => {
    const page = await read(await filled(t), addressPath('192.0.2.1'), AddressPageResponse);
    assert.deepEqual([page.cidr, page.ip, page.asn, page.network], ['192.0.2.1', '192.0.2.1', 64500, 'Example Net']);
    const fed = page.listings.filter(({ source }: { source: string }) => source === 'feed');
    assert.deepEqual(fed, [
      {
        dataset: 'BCL',
        state: 'live',
        cidr: '192.0.2.1',
        listed_ts: NOW - DAY,
        seen_ts: NOW - DAY,
        valid_until_ts: NOW + 6 * DAY,
        removed_ts: null,
        source: 'feed',
        botname: 'Emotet',
        details: { cc: 'DE', dstport: 443 },
      },
      {
        dataset: 'DROP',
        state: 'past',
        cidr: '192.0.2.0/24',
        listed_ts: NOW - 90 * DAY,
        seen_ts: NOW - 80 * DAY,
        valid_until_ts: NOW - 77 * DAY,
        removed_ts: null,
        source: 'feed',
        botname: null,
        details: { cc: 'DE' },
      },
    ]);
    assert.deepEqual(page.domains, [
      { domain: 'fact.example', hostname: 'mail.fact.example', last_ts: NOW - 5 },
      { domain: 'site.example', hostname: 'www.site.example', last_ts: NOW - 3 * DAY },
    ]);
    assert.deepEqual(
      page.urls.map(({ id: _id, ...line }: { id: number }) => line),
      [
        { url: 'http://192.0.2.1/x', status: 'offline', ts: NOW - 2 * DAY, family: 'Mirai' },
        { url: 'http://www.site.example/a', status: 'online', ts: NOW - 3 * DAY, family: null },
      ],
    );
    assert.deepEqual([page.listings_truncated, page.domains_truncated, page.urls_truncated], [false, false, false]);
  });

  test('has when each URL was seen there, newest first, not when its status began', async (t) => {
    const at = (url: string, ts: number) => ({ url, ts, status: 'online' as const, ip: '192.0.2.1' });
    const built = await build(t, {
      observations: [
        at('http://192.0.2.1/old', NOW - 9 * DAY),
        at('http://192.0.2.1/old', NOW - 100),
        at('http://192.0.2.1/new', NOW - 2 * DAY),
      ],
    });
    const page = await read(built, addressPath('192.0.2.1'), AddressPageResponse);
    assert.deepEqual(
      page.urls.map(({ url, ts }: { url: string; ts: number }) => [url, ts]),
      [
        ['http://192.0.2.1/old', NOW - 100],
        ['http://192.0.2.1/new', NOW - 2 * DAY],
      ],
    );
  });

  test('reads the listings of a single address once: those of one with many URLs take long', async (t) => {
    const built = await filled(t);
    const { listings } = built.store;
    let reads = 0;
    built.store.listings = (query) => {
      reads++;
      return listings(query);
    };
    const page = await read(built, addressPath('192.0.2.1'), AddressPageResponse);
    assert.equal(page.listings.length, 2);
    assert.equal(reads, 1);
  });

  test('of a network has what is inside, and costs as much as a search for it', async (t) => {
    const built = await filled(t);
    const page = await read(built, networkPath('192.0.2.77', 24), AddressPageResponse);
    assert.deepEqual([page.cidr, page.ip, page.urls.length, page.domains.length], ['192.0.2.0/24', '192.0.2.0', 3, 3]);
    const { app, counters, sub, logIn } = await withAccounts(t);
    await app.inject(authorized({ method: 'GET', url: networkPath('192.0.2.0', 24) }, await logIn()));
    assert.equal((await counters.read(sub)).counts.month, 9);
  });

  test('of a network has the listings around it, however many newer ones are inside', async (t) => {
    const built = await build(t);
    await built.store.applyListings([
      listing('198.51.100.0/24', { dataset: 'DROP', family: null, port: null }),
      ...Array.from({ length: 240 }, (_, i) => listing(`198.51.100.${i}`, { ts: NOW - i })),
    ]);
    const page = await read(built, networkPath('198.51.100.0', 24), AddressPageResponse);
    assert.deepEqual([page.listings.length, page.listings_truncated], [200, true]);
    const times = page.listings.map(({ seen_ts: ts }: { seen_ts: number }) => ts);
    assert.deepEqual(
      times,
      times.toSorted((a: number, b: number) => b - a),
    );
    assert.equal(page.listings.at(-1).cidr, '198.51.100.0/24');
  });

  test('leaves out the datasets that the account lacks', async (t) => {
    const ask = async (ads: string[]) => {
      const { app, logIn } = await withAccounts(t, { ads });
      return app.inject(authorized({ method: 'GET', url: addressPath('192.0.2.1') }, await logIn()));
    };
    const all = (await ask(['URL', 'XBL'])).json();
    assert.deepEqual([all.listings.length, all.urls.length, all.domains.length], [1, 1, 0]);
    const bcl = (await ask(['BCL'])).json();
    assert.deepEqual([bcl.listings, bcl.urls, bcl.domains], [[], [], []]);
    assertError(await ask([]), 403);
  });

  test('refuses what is no address, and networks that are too wide', async (t) => {
    const { app } = await build(t);
    for (const url of [
      addressPath('example.com'),
      addressPath('192.0.2.1%2F24'),
      networkPath('192.0.2.1', 23),
      networkPath('2001:db8::', 55),
    ]) {
      assertError(await app.inject(url), 400);
    }
  });
});

describe('the page of a domain', () => {
  const domainPath = (name: string) => paths.portalDomain.replace(':name', name);

  test('has score, reasons and lists', async (t) => {
    const built = await filled(t);
    const name = { hostname: 'site.example', domain: 'site.example' };
    const ip = parseIp('198.51.100.9') as Uint8Array;
    await built.store.applyDomains([], [{ ts: NOW - 5, name, kind: 'sender', ip, helo: 'mail' }]);
    await built.store.applyListings([listing('198.51.100.9')]);
    const page = await read(built, domainPath('www.SITE.example'), DomainPageResponse);
    assert.deepEqual([page.domain, page.known, page.settings], ['site.example', true, null]);
    assert.equal(typeof page.score, 'number');
    assert.ok(page.reasons.length > 0);
    assert.deepEqual(page.hostnames[0].hostname, 'www.site.example');
    assert.deepEqual(
      page.addresses.map(({ ip, asn, network }: Record<string, unknown>) => [ip, asn, network]),
      [['192.0.2.1', 64500, 'Example Net']],
    );
    assert.deepEqual(page.senders, [{ ip: '198.51.100.9', helo: 'mail', 'last-seen': NOW - 5, score: -10 }]);
    assert.deepEqual(Object.values(page.truncated), [false, false, false, false, false, false]);
  });

  test('shows what the operator set', async (t) => {
    const built = await filled(t);
    await built.store.setDomain('site.example', { human: -5, isAbused: true, reason: '<img onerror=x>', setTs: NOW });
    const page = await read(built, domainPath('site.example'), DomainPageResponse);
    assert.deepEqual(page.settings, { human: -5, abused: true, reason: '<img onerror=x>', set_ts: NOW });
    assert.match(page.abused_reason, /<img onerror=x>/);
  });

  test('of an unknown domain is a response; an address and a suffix are refused', async (t) => {
    const built = await build(t);
    const page = await read(built, domainPath('unknown.example'), DomainPageResponse);
    assert.deepEqual([page.known, page.score, page.listed, page.hostnames], [false, null, false, []]);
    for (const name of ['192.0.2.1', 'co.uk', 'a..b']) assertError(await built.app.inject(domainPath(name)), 400);
  });
});

describe('the search of the pages', () => {
  const search = ({ app }: Built, payload: object, query = '') =>
    app.inject({ method: 'POST', url: `${paths.portalSearch}${query}`, payload });

  test('adds status, family and network to the lines of the public search', async (t) => {
    const built = await filled(t);
    const response = await search(built, { ip: '192.0.2.0/24' });
    assert.equal(response.headers['cache-control'], 'no-store');
    const found = lines(response.body) as Record<string, unknown>[];
    const rest = found.map(({ id: _id, ...line }) => line);
    const byUrl = (a: { url?: unknown }, b: { url?: unknown }) => (String(a.url) < String(b.url) ? -1 : 1);
    assert.deepEqual(rest.sort(byUrl as never), [
      {
        ts: NOW - 2 * DAY,
        url: 'http://192.0.2.1/x',
        status: 'offline',
        family: 'Mirai',
        asn: 64500,
        network: 'Example Net',
      },
      { ts: NOW - DAY, url: 'http://other.example/b', status: 'online', family: null, asn: 7, network: null },
      {
        ts: NOW - 3 * DAY,
        url: 'http://www.site.example/a',
        status: 'online',
        family: null,
        asn: 64500,
        network: 'Example Net',
      },
    ]);
  });

  test('has the window, limit and refusals of the public search', async (t) => {
    const built = await filled(t);
    assert.equal(lines((await search(built, { ip: '192.0.2.0/24' }, '?limit=2')).body).length, 2);
    assert.equal(lines((await search(built, { ip: '192.0.2.0/24' }, `?since=${NOW - DAY}`)).body).length, 1);
    assertError(await search(built, { host: 'unknown.example' }), 404);
    assertError(await search(built, { ip: '192.0.2.0/24' }, '?since=2&until=1'), 400);
    assertError(await search(built, { ip: '192.0.2.1', host: 'a.example' }), 400);
  });

  test('yields every match of several pages once', async (t) => {
    const observations = Array.from({ length: 1_100 }, (_, i) => ({
      ts: NOW - i,
      url: `http://big.example/${i}`,
      status: 'online' as const,
    }));
    const built = await build(t, { observations });
    const found = lines((await search(built, { host: 'big.example' })).body) as { id: number; status: string }[];
    assert.equal(new Set(found.map(({ id }) => id)).size, 1_100);
    assert.ok(found.every(({ status }) => status === 'online'));
  });
});

describe('the first page', () => {
  test('has totals, freshness, feeds and the newest URLs', async (t) => {
    const feeds = [{ name: '<b>', format: 'urlhaus-csv', state: 'late' as const, last_success_ts: NOW - DAY, rows: 7 }];
    const { store } = await filled(t);
    const totals = createTotals({
      store,
      now: () => NOW,
      changes: async () => '',
      onFailure: (error) => assert.fail(String(error)),
    });
    totals.start();
    t.after(() => totals.close());
    assert.deepEqual([totals.current().countedTs, totals.current().urls], [null, null], 'not counted yet');
    const freshness = async () => ({ newestEventTs: NOW - 7, confirmedTs: NOW - 6 });
    const built = await build(t, {
      services: { store, freshness, portal: { totals: totals.current, feeds: async () => feeds } },
    });
    await totals.settled();
    const { newest, ...page } = await read(built, paths.portalOverview, OverviewResponse);
    assert.deepEqual(page, {
      counted_ts: NOW,
      totals: { urls: 3, online: 2, listings: 1, domains: 3 },
      newest_event_ts: NOW - 7,
      confirmed_ts: NOW - 6,
      feeds,
    });
    const times = newest.map(({ ts }: { ts: number }) => ts);
    assert.equal(times.length, 3);
    assert.deepEqual(
      times,
      times.toSorted((a: number, b: number) => b - a),
    );
    assert.deepEqual(newest.map(({ reporter }: { reporter: string }) => reporter).includes('ada'), true);
  });

  test('has the newest URLs of a dump that begins with them, and newer ones that are stored after the count', async (t) => {
    const url = (name: string | number) => `http://newest.example/${name}`;
    const dump = Array.from({ length: 600 }, (_, i) => ({ ts: NOW - i * 60, url: url(i), status: 'online' as const }));
    const { store } = await build(t, {
      observations: [{ ts: NOW - 1, url: url('offline'), status: 'offline' }, ...dump],
    });
    const totals = createTotals({ store, now: () => NOW, changes: async () => '', onFailure: assert.fail });
    t.after(() => totals.close());
    const built = await build(t, { services: { store, portal: { totals: totals.current } } });
    const shown = async () =>
      (await read(built, paths.portalOverview, OverviewResponse)).newest.map((one: { url: string }) => one.url);
    totals.start();
    await totals.settled();
    assert.deepEqual(await shown(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(url));
    await store.apply([
      observed({ ts: NOW + 1, url: url('late'), status: 'online' }),
      observed({ ts: NOW - DAY, url: url('old'), status: 'online' }),
    ]);
    assert.deepEqual(await shown(), [url('late'), ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map(url)]);
  });

  test('has no URLs for an account without that dataset', async (t) => {
    const { app, logIn } = await withAccounts(t, { ads: ['BCL'] });
    const request = { method: 'GET', url: paths.portalOverview } as const;
    assert.deepEqual((await app.inject(authorized(request, await logIn()))).json().newest, []);
    assertError(await app.inject(request), 401);
  });
});

test('totals are counted page by page, and again if data changed, the later, the longer the count took', async (t) => {
  let [now, version, pages, clockMs, pageMs, isFailing, failures] = [NOW, 'a', 0, 0, 2_000, false, 0];
  const store = stubStore({
    countUrls: async (after) => {
      pages++;
      clockMs += pageMs;
      if (isFailing && after === 2) throw new Error('the database is away');
      return { urls: 2, online: 1, newest: [], next: after < 2 ? after + 1 : null };
    },
  });
  const totals = createTotals({
    store,
    now: () => now,
    clockMs: () => clockMs,
    changes: async () => version,
    onFailure: () => failures++,
  });
  totals.start();
  t.after(() => totals.close());
  const countedAt = async (seconds: number) => {
    now = NOW + seconds;
    totals.current();
    await totals.settled();
    const { countedTs, urls, online } = totals.current();
    return [(countedTs ?? 0) - NOW, urls, online, pages];
  };
  await totals.settled();
  assert.deepEqual(await countedAt(0), [0, 6, 3, 3]);
  version = 'b';
  assert.deepEqual(await countedAt(599), [0, 6, 3, 3]);
  assert.deepEqual(await countedAt(600), [600, 6, 3, 6]);
  assert.deepEqual(await countedAt(1_300), [600, 6, 3, 6], 'nothing changed');
  pageMs = 1;
  assert.deepEqual(await countedAt(600 + 86_400), [87_000, 6, 3, 9], 'listings expire');
  version = 'c';
  assert.deepEqual(await countedAt(87_009), [87_000, 6, 3, 9]);
  assert.deepEqual(await countedAt(87_010), [87_010, 6, 3, 12], 'a short count');
  assert.equal(failures, 0);
  [version, pageMs, isFailing] = ['d', 2_000, true];
  assert.deepEqual(await countedAt(87_020), [87_010, 6, 3, 15], 'a count that fails at its end');
  isFailing = false;
  assert.deepEqual(await countedAt(87_619), [87_010, 6, 3, 15]);
  assert.deepEqual(await countedAt(87_620), [87_620, 6, 3, 18]);
  assert.equal(failures, 1);
});

describe('usage by day', () => {
  test('has the days with queries, today as counted now, and the limits of the month', async (t) => {
    const { app, control, sub, logIn } = await withAccounts(t, { qms: 50, qmh: 100 });
    const today = NOW / DAY;
    const used = (day: number, count: number) => ({ sub, day, month: 672 - (day < today ? 1 : 0), count });
    await control.addUsage([used(today - 2, 5), used(today - 89, 7), used(today - 90, 9), used(today - 3, 0)]);
    await control.addUsage([{ ...used(today - 1, 3), sub: '99999999' }]);
    const good = await logIn();
    const ask = async (query = '') =>
      app.inject(authorized({ method: 'GET', url: `${paths.portalUsage}${query}` }, good));
    await app.inject(authorized({ method: 'POST', url: paths.portalUrl, payload: { url: 'http://a.example/' } }, good));
    const response = await ask();
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.deepEqual([...Value.Errors(UsageByDayResponse, response.json())], []);
    assert.deepEqual(response.json(), {
      from_day: '2025-10-04',
      to_day: '2026-01-01',
      days: [
        { day: '2025-10-04', queries: 7 },
        { day: '2025-12-30', queries: 5 },
        { day: '2026-01-01', queries: 1 },
      ],
      month: { queries: 1, soft: 50, hard: 100, resets_ts: NOW + 31 * DAY },
    });
    assert.equal((await ask('?days=3')).json().days.length, 2);
    for (const query of ['?days=0', '?days=801', '?days=x', '?days=1&days=2']) assertError(await ask(query), 400);
  });
});
