import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import { setAccount } from '../../src/accounts/manage.ts';
import type { Intelligence } from '../../src/app/stores.ts';
import { AppError } from '../../src/core/errors.ts';
import { paths } from '../../src/core/paths.ts';
import { makeListKey } from '../../src/exports/keys.ts';
import { until } from '../until.ts';
import { seen } from '../urls/contract/observations.ts';
import { admitAll } from './admit-all.ts';
import { assertError, NOW } from './build.ts';
import { authorized, LIMITS, USERNAME, type World, withAccounts } from './with-accounts.ts';

const LISTS = '/api/lists/v1';
const URLS = 'http://192.0.2.1/x\nhttp://site.example/x\n';

const fetched = (response: { body: string }) =>
  response.body
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n');

async function makeKey({ control, sub }: World, list = 'urls-online') {
  const { key, made } = await makeListKey(control, { list, device: 'firewall', sub }, NOW);
  return { key, id: made.id };
}

async function queriesOf({ app, logIn }: World): Promise<number> {
  return (await app.inject(authorized(LIMITS, await logIn()))).json().current.qpd;
}

describe('credentials', () => {
  test('a key opens its list in the path, as Bearer and as password of Basic; a token opens every list', async (t) => {
    const world = await withAccounts(t);
    const { key } = await makeKey(world);
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    const requests: InjectOptions[] = [
      { url: `${LISTS}/${key}/urls-online.txt` },
      { url: `${LISTS}/urls-online.txt`, headers: { authorization: `Bearer ${key}` } },
      { url: `${LISTS}/urls-online.txt`, headers: basic(`firewall:${key}`) },
      { url: `${LISTS}/urls-online.txt`, headers: { authorization: await world.logIn() } },
    ];
    for (const request of requests) {
      const response = await world.app.inject(request);
      assert.equal(response.statusCode, 200, response.body);
      assert.equal(fetched(response), URLS);
    }
  });

  test('a key of one list opens no other, an unknown one none, and its text is in no response', async (t) => {
    const world = await withAccounts(t);
    const { key } = await makeKey(world);
    const unknown = `uwk_${'0'.repeat(40)}`;
    assertError(await world.app.inject(`${LISTS}/${key}/hosts-malware.txt`), 403, /another list/);
    for (const url of [`${LISTS}/${unknown}/urls-online.txt`, `${LISTS}/${unknown}/nothing.txt`]) {
      const response = await world.app.inject(url);
      assertError(response, 401);
      assert.equal(response.headers['www-authenticate'], 'Bearer, Basic realm="lists"');
      assert.doesNotMatch(response.body, /uwk_/);
    }
    assertError(await world.app.inject(`${LISTS}/not-a-key/urls-online.txt`), 404);
    assertError(await world.app.inject(`${LISTS}/urls-online.txt`), 401);
  });

  test('a removed key, and a key of a disabled account, open nothing', async (t) => {
    const world = await withAccounts(t);
    const [first, second] = [await makeKey(world), await makeKey(world)];
    assert.equal((await world.app.inject(`${LISTS}/${first.key}/urls-online.txt`)).statusCode, 200);
    await world.control.removeListKey(first.id);
    assertError(await world.app.inject(`${LISTS}/${first.key}/urls-online.txt`), 401);
    await setAccount(world.control, USERNAME, { isEnabled: false });
    await world.refresh();
    assertError(await world.app.inject(`${LISTS}/${second.key}/urls-online.txt`), 403, /disabled/);
  });

  test('the datasets of the list are needed', async (t) => {
    const world = await withAccounts(t, { ads: ['URL'] });
    const authorization = await world.logIn();
    const get = (file: string) => world.app.inject({ url: `${LISTS}/${file}`, headers: { authorization } });
    assert.equal((await get('urls-online.txt')).statusCode, 200);
    assertError(await get('addresses-bcl.txt'), 403, /BCL/);
    assertError(await get('domains-listed.txt'), 403, /DOMAIN/);
  });
});

describe('a fetch', () => {
  test('counts one query; 304 counts none', async (t) => {
    const world = await withAccounts(t);
    const { key } = await makeKey(world);
    const get = (headers = {}) => world.app.inject({ url: `${LISTS}/${key}/urls-online.txt`, headers });
    const first = await get();
    assert.equal(await queriesOf(world), 1);
    const { etag = '', 'last-modified': modified = '' } = first.headers as Record<string, string>;
    for (const headers of [
      { 'if-none-match': etag },
      { 'if-none-match': `"x", W/${etag}` },
      { 'if-modified-since': modified },
    ]) {
      const again = await get(headers);
      assert.equal(again.statusCode, 304);
      assert.equal(again.body, '');
      assert.equal(again.headers.etag, etag);
    }
    assert.equal(await queriesOf(world), 1);
    assert.equal((await get({ 'if-none-match': '"other"', 'if-modified-since': modified })).statusCode, 200);
    assert.equal(await queriesOf(world), 2);
  });

  test('that is 304 has no Content-Length, which would be that of the 200 (RFC 9110 section 8.6)', async (t) => {
    const world = await withAccounts(t);
    const { key } = await makeKey(world);
    const url = `${LISTS}/${key}/urls-online.txt`;
    const { etag } = (await world.app.inject(url)).headers;
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers } = await world.app.inject({ method, url, headers: { 'if-none-match': etag } });
      assert.deepEqual([statusCode, headers.etag, headers['content-length']], [304, etag, undefined], method);
      assert.ok(headers['x-request-id'] && headers['cache-control']);
    }
  });

  test('beyond the monthly limit gets 429, but 304 is still answered', async (t) => {
    const world = await withAccounts(t, { qmh: 1 });
    const { key } = await makeKey(world);
    const get = (headers = {}) => world.app.inject({ url: `${LISTS}/${key}/urls-online.txt`, headers });
    const { etag } = (await get()).headers;
    assertError(await get(), 429, /qmh/);
    assert.equal((await get({ 'if-none-match': etag })).statusCode, 304);
  });

  test('beyond the limit builds nothing for a device that has no copy', async (t) => {
    const world = await withAccounts(t, { qmh: 1 });
    const headers = { authorization: await world.logIn() };
    assert.equal((await world.app.inject({ url: `${LISTS}/urls-online.txt`, headers })).statusCode, 200);
    assertError(await world.app.inject({ url: `${LISTS}/hosts-malware.txt`, headers }), 429, /qmh/);
    const { items } = (await world.app.inject({ url: paths.portalLists, headers })).json();
    assert.deepEqual(
      items.flatMap(({ name, entries }: { name: string; entries: number | null }) => (entries === null ? [] : name)),
      ['urls-online'],
    );
  });

  test('of a variant that nobody has fetched is charged before it is made; 304 gives the charge back', async (t) => {
    const world = await withAccounts(t, { qmh: 2 });
    const { key } = await makeKey(world);
    const get = (query: string, headers = {}) =>
      world.app.inject({ url: `${LISTS}/${key}/urls-online.txt${query}`, headers });
    const any = { 'if-none-match': '*' };
    assert.equal((await get('')).statusCode, 200);
    assert.equal((await get('?max=1', any)).statusCode, 304);
    assert.equal(await queriesOf(world), 1);
    assert.equal((await get('')).statusCode, 200);
    assertError(await get('?max=2', any), 429, /qmh/);
    for (const query of ['', '?max=1']) assert.equal((await get(query, any)).statusCode, 304);
    assert.equal(await queriesOf(world), 2);
  });

  test('and an explanation that fail are not counted', async (t) => {
    const away = async () => {
      throw new AppError('unavailable', 'the database is away');
    };
    const lists = (store: Intelligence) => ({
      ...admitAll(() => NOW).lists(store),
      copy: away,
      keptCopy: away,
      explain: away,
    });
    const world = await withAccounts(t, {}, { services: { lists } });
    const headers = { authorization: await world.logIn() };
    for (const condition of [{}, { 'if-none-match': '"other"' }]) {
      const url = `${LISTS}/urls-online.txt`;
      assertError(await world.app.inject({ url, headers: { ...headers, ...condition } }), 503);
    }
    const url = paths.portalListExplain.replace(':name', 'urls-online');
    assertError(await world.app.inject({ method: 'POST', url, headers, payload: { text: 'site.example' } }), 503);
    assert.equal(await queriesOf(world), 0);
  });

  test('has gzip and zstd by Accept-Encoding, each with an ETag of its own', async (t) => {
    const world = await withAccounts(t);
    const { key } = await makeKey(world);
    const get = (encoding?: string) =>
      world.app.inject({
        url: `${LISTS}/${key}/urls-online.txt`,
        headers: encoding === undefined ? {} : { 'accept-encoding': encoding },
      });
    const plain = await get();
    const packed = { gzip: gunzipSync, zstd: zstdDecompressSync };
    const etags = new Set([plain.headers.etag]);
    for (const [name, unpack] of Object.entries(packed)) {
      const response = await get(`${name}, br`);
      assert.equal(response.headers['content-encoding'], name);
      assert.equal(unpack(response.rawPayload).toString(), plain.body);
      etags.add(response.headers.etag);
    }
    assert.equal(etags.size, 3);
    for (const refused of ['gzip;q=0', 'identity', 'br', '']) {
      assert.equal((await get(refused)).headers['content-encoding'], undefined, refused);
    }
    assert.equal((await get('GZIP;q=0.5, zstd;q=0')).headers['content-encoding'], 'gzip');
    assert.equal((await get('*')).headers['content-encoding'], 'zstd');
  });

  test('of a list or a format that does not exist gets 404; an empty list is 200 with a comment', async (t) => {
    const world = await withAccounts(t);
    const authorization = await world.logIn();
    const get = (file: string) => world.app.inject({ url: `${LISTS}/${file}`, headers: { authorization } });
    assertError(await get('nothing.txt'), 404, /no list nothing/);
    assertError(await get('urls-online.rpz'), 404, /no format rpz/);
    assertError(await get('urls-online.exe'), 404);
    assertError(await get('urls-online'), 404);
    assertError(await get('urls-online.txt?profile=toaster'), 400, /pan-os/);
    assertError(await get('urls-online.txt?profile=pan-os&profile=pan-os'), 400, /^"profile" must be sent once$/);
    assertError(await get('urls-online.txt?max=0'), 400, /max/);
    const empty = await get('addresses-bcl.txt');
    assert.equal(empty.statusCode, 200);
    assert.match(empty.body, /^# .*\n/);
    assert.equal(fetched(empty), '');
  });

  test('with max has the newest entries, and says that it was cut', async (t) => {
    const world = await withAccounts(t);
    const { key } = await makeKey(world);
    const response = await world.app.inject(`${LISTS}/${key}/urls-online.txt?max=1`);
    assert.equal(fetched(response), 'http://192.0.2.1/x\n');
    assert.match(response.body, /# Cut by max=1: 1 older/);
  });

  test('by HEAD has the headers of GET', async (t) => {
    const world = await withAccounts(t);
    const { key } = await makeKey(world);
    const url = `${LISTS}/${key}/urls-online.csv`;
    const [get, head] = [await world.app.inject(url), await world.app.inject({ method: 'HEAD', url })];
    assert.equal(head.statusCode, 200);
    assert.equal(head.body, '');
    assert.equal(get.headers['content-disposition'], 'inline; filename="urls-online.csv"');
    for (const name of ['etag', 'last-modified', 'content-type', 'content-length', 'x-list-entries']) {
      assert.equal(head.headers[name], get.headers[name], name);
    }
  });

  test('after a change has the new content, a greater serial and another ETag', async (t) => {
    const world = await withAccounts(t);
    const { key } = await makeKey(world);
    const get = () => world.app.inject(`${LISTS}/${key}/urls-online.txt`);
    const before = await get();
    await world.setNow(NOW + 60);
    await world.store.apply([seen({ ts: NOW + 50, url: 'http://new.example/' })]);
    let after = before;
    await until(async () => {
      after = await get();
      return after.headers.etag !== before.headers.etag;
    }, 'the list has changed');
    assert.equal(fetched(after), `http://new.example/\n${URLS}`);
    const serialOf = ({ body }: { body: string }) => Number(/Serial: (\d+)/.exec(body)?.[1]);
    assert.ok(serialOf(after) > serialOf(before));
    assert.equal(after.headers['last-modified'], new Date(serialOf(after) * 1000).toUTCString());
  });

  test('after all URLs were only confirmed has the same serial and ETag; formats with all fields change', async (t) => {
    const world = await withAccounts(t);
    const authorization = await world.logIn();
    const get = (file: string, headers = {}) =>
      world.app.inject({ url: `${LISTS}/${file}`, headers: { authorization, ...headers } });
    const files = ['urls-online.txt', 'hosts-malware.rpz', 'urls-online.ndjson', 'hosts-malware.csv'];
    const before = await Promise.all(files.map((file) => get(file)));
    await world.setNow(NOW + 7_200);
    const urls = URLS.trim().split('\n');
    // The first was seen later than the second, and now it is the other way round.
    await world.store.apply(urls.map((url, i) => seen({ ts: NOW + 7_100 + i, url })));
    await world.store.apply([seen({ ts: NOW + 7_200, url: 'http://off.example/', status: 'offline' })]);
    for (const [i, file] of files.entries()) {
      if (i < 2) continue;
      await until(async () => (await get(file)).headers.etag !== before[i]?.headers.etag, `${file} has changed`);
      assert.equal((await get(file)).headers['last-modified'], undefined);
      const since = new Date((NOW + 9_000) * 1000).toUTCString();
      assert.equal((await get(file, { 'if-modified-since': since })).statusCode, 200, file);
    }
    for (const [i, file] of files.slice(0, 2).entries()) {
      const after = await get(file);
      assert.equal(after.headers.etag, before[i]?.headers.etag, file);
      assert.equal(after.headers['last-modified'], before[i]?.headers['last-modified'], file);
      assert.equal(after.body, before[i]?.body, file);
    }
  });

  test('is remembered as the last one of its key', async (t) => {
    const world = await withAccounts(t);
    const { key, id } = await makeKey(world);
    const { mock } = t.mock.method(world.control, 'recordFetch');
    const { headers } = await world.app.inject({ url: `${LISTS}/${key}/urls-online.txt`, remoteAddress: '192.0.2.44' });
    assert.deepEqual(
      mock.calls.map((call) => call.arguments),
      [[id, { ts: NOW, address: '192.0.2.44', etag: headers.etag }]],
    );
  });
});
