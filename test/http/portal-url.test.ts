import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Value } from 'typebox/value';
import { paths } from '../../src/core/paths.ts';
import { UrlPageResponse } from '../../src/portal/schemas.ts';
import { assertError, build, DAY, NOW, type Overrides } from './build.ts';
import { authorized, withAccounts } from './with-accounts.ts';

const SHA256 = 'ab'.repeat(32);
const URL = 'http://www.site.example/a';
const NAMES = {
  networkOf: () => ({ asn: 64501, name: 'Table Net' }),
  nameOf: (asn: number) => (asn === 64500 ? 'Example Net' : null),
};

const OBSERVATIONS: Overrides['observations'] = [
  { ts: NOW - 9 * DAY, url: URL, status: 'online', reporter: 'ada', ip: '192.0.2.1', asn: 64500, tags: ['b', 'a'] },
  { ts: NOW - 8 * DAY, url: URL, status: 'online', reporter: 'ada', payload: { sha256: SHA256, family: 'Mirai' } },
  { ts: NOW - 2 * DAY, url: URL, status: 'offline', reporter: 'eve', ip: '192.0.2.2' },
  { ts: NOW - DAY, url: 'http://www.site.example/b', status: 'online', reporter: 'ada', ip: '192.0.2.3' },
];

async function ask(t: Parameters<typeof build>[0], url: string, overrides: Overrides = {}) {
  const { app } = await build(t, {
    observations: OBSERVATIONS ?? [],
    ...overrides,
    services: { portal: NAMES, ...overrides.services },
  });
  const response = await app.inject({ method: 'POST', url: paths.portalUrl, payload: { url } });
  if (response.statusCode === 200) {
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.deepEqual([...Value.Errors(UrlPageResponse, response.json())], [], response.body);
  }
  return response;
}

describe('the page of a URL', () => {
  test('has its whole life', async (t) => {
    const page = (await ask(t, 'HTTP://u:p@www.site.example:80/a#x')).json();
    const { id, payloads, on_host, ...rest } = page;
    assert.deepEqual(rest, {
      input: 'HTTP://u:p@www.site.example:80/a#x',
      url: URL,
      steps: [
        'scheme written in lower case',
        'credentials removed',
        'default port of http removed',
        'fragment removed',
      ],
      status: 'offline',
      since_ts: NOW - 2 * DAY,
      confirmed_ts: NOW - 2 * DAY,
      reporter: 'eve',
      removal: null,
      first_seen_ts: NOW - 9 * DAY,
      tags: ['a', 'b'],
      events: [
        { ts: NOW - 9 * DAY, status: 'added', removal: '', reporter: 'ada', confirmed_ts: NOW - 8 * DAY },
        { ts: NOW - 2 * DAY, status: 'offline', removal: '', reporter: 'eve', confirmed_ts: NOW - 2 * DAY },
      ],
      addresses: [
        { ip: '192.0.2.2', asn: 64501, network: 'Table Net', ts: NOW - 2 * DAY },
        { ip: '192.0.2.1', asn: 64500, network: 'Example Net', ts: NOW - 9 * DAY },
      ],
      host: 'www.site.example',
      domain: 'site.example',
      domain_listed: page.domain_listed,
      address_listed: [],
    });
    assert.ok(id > 0);
    assert.equal(typeof page.domain_listed, 'boolean');
    assert.equal(payloads[0].sha256_hash, SHA256);
    assert.equal(payloads[0]['malware-family'], 'Mirai');
    assert.deepEqual(
      on_host.urls.map(({ id: _id, ...line }: { id: number }) => line),
      [{ url: 'http://www.site.example/b', status: 'online', ts: NOW - DAY, family: null }],
    );
    assert.equal(on_host.truncated, false);
  });

  test('of an unknown URL has what is known about its host, address and domain', async (t) => {
    const page = (await ask(t, 'http://www.site.example/unknown')).json();
    assert.deepEqual(
      [page.id, page.status, page.since_ts, page.first_seen_ts, page.events, page.payloads, page.steps],
      [null, null, null, null, [], [], []],
    );
    assert.deepEqual(
      page.on_host.urls.map(({ url }: { url: string }) => url),
      ['http://www.site.example/b', URL],
    );
    assert.deepEqual(
      page.addresses.map(({ ip }: { ip: string }) => ip),
      ['192.0.2.3', '192.0.2.2'],
    );
    const nowhere = (await ask(t, 'http://unknown.example/')).json();
    assert.deepEqual([nowhere.domain, nowhere.domain_listed, nowhere.addresses], ['unknown.example', null, []]);
  });

  test('has the datasets in which the address is listed, of those of the account', async (t) => {
    const world = await withAccounts(t, { ads: ['URL', 'BCL'] });
    const { app, logIn } = world;
    const query = { method: 'POST', url: paths.portalUrl, payload: { url: 'http://192.0.2.1/y' } } as const;
    const page = (await app.inject(authorized(query, await logIn()))).json();
    assert.deepEqual([page.address_listed, page.domain_listed, page.domain], [[], null, null]);
    await world.control.putTier({ ...(await world.control.tiers())[0], ads: ['URL', 'XBL'] } as never);
    await world.refresh();
    const withXbl = (await app.inject(authorized(query, await logIn()))).json();
    assert.deepEqual(withXbl.address_listed, ['XBL']);
  });

  test('shows ten other URLs of the host, the newest', async (t) => {
    const observations = Array.from({ length: 12 }, (_, i) => ({
      ts: NOW - DAY + i,
      url: `http://host.example/${i}`,
      status: 'online' as const,
    }));
    const { on_host } = (await ask(t, 'http://host.example/11', { observations })).json();
    assert.equal(on_host.truncated, true);
    assert.deepEqual(
      on_host.urls.map(({ url }: { url: string }) => url),
      Array.from({ length: 10 }, (_, i) => `http://host.example/${10 - i}`),
    );
  });

  test('refuses what is no URL, and returns hostile text as text', async (t) => {
    for (const url of [
      '',
      'hello',
      'http://',
      'gopher://a.example/',
      `http://a.example/${'a'.repeat(8_192)}`,
      'http://a.example/\ud800',
    ]) {
      assertError(await ask(t, url), 400);
    }
    const hostile = ['<img src=x onerror=alert(1)>', '\u202egnp.exe', '"\';--'];
    const path = `http://a.example/${'é'.repeat(1_000)}${'a'.repeat(1_000)}?<img onerror=x>\u202e`;
    const observations = hostile.map((text, i) => ({
      ts: NOW - 9 + i,
      url: path,
      status: i % 2 === 0 ? ('online' as const) : ('offline' as const),
      reporter: text,
      tags: [text],
      payload: { family: text, fileName: text },
    }));
    const page = (await ask(t, path, { observations })).json();
    assert.deepEqual(
      page.events.map(({ reporter }: { reporter: string }) => reporter),
      hostile,
    );
    assert.deepEqual(page.tags, [...hostile].sort());
    assert.deepEqual(
      new Set(page.payloads.map((one: Record<string, string>) => one['malware-family'])),
      new Set(hostile),
    );
    assert.equal(page.input, path);
  });
});
