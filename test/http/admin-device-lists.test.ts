import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAccount } from '../../src/accounts/manage.ts';
import { paths } from '../../src/core/paths.ts';
import { keyHash } from '../../src/exports/keys.ts';
import { asAdmin, BY_ADMIN } from './as-admin.ts';
import { assertError, DAY, NOW } from './build.ts';
import { authorized, PASSWORD, USERNAME, withAccounts } from './with-accounts.ts';

const OTHER = 'other@example.com';

describe('what administrators do with lists for devices', () => {
  test('lists', async (t) => {
    const { read, change, post, audited, asCustomer } = await asAdmin(t);
    const builtIn = (await read('/lists')).items;
    assert.deepEqual(
      builtIn.map(({ name, built_in }: { name: string; built_in: boolean }) => [name, built_in]),
      ['urls-online', 'hosts-malware', 'domains-listed', 'addresses-bcl', 'addresses-xbl'].map((name) => [name, true]),
    );
    const own = await change('/lists', { name: 'own', kind: 'hosts', families: ['Mirai'], max_score: -10.5 });
    assert.deepEqual(own, {
      name: 'own',
      kind: 'hosts',
      description: '',
      built_in: false,
      needs: ['URL', 'DOMAIN'],
      status: 'online',
      age_seconds: 30 * DAY,
      families: ['Mirai'],
      reporters: [],
      datasets: [],
      max_score: -10.5,
      listed_domains: false,
      changed_ts: NOW,
    });
    const changed = await change('/lists/own', { max_score: null, status: 'any' });
    assert.deepEqual(changed, { ...own, needs: ['URL'], max_score: null, status: 'any' });
    assert.deepEqual((await read('/lists')).items, [...builtIn, changed]);
    for (const [path, body, status, message] of [
      ['/lists', { name: 'own', kind: 'urls' }, 400, /already a list own/],
      ['/lists', { name: 'x', kind: 'files' }, 400, /"kind"/],
      ['/lists', { name: 'x', kind: 'urls', max_score: 1 }, 400, /^"max_score" means nothing/],
      ['/lists', { name: 'x', kind: 'urls', age_seconds: 1 }, 400, /"age_seconds"/],
      ['/lists/own', {}, 400, /nothing to change/],
      ['/lists/own', { kind: 'urls' }, 400, /kind/],
      ['/lists/urls-online', { status: 'any' }, 400, /built in/],
      ['/lists/none', { status: 'any' }, 404, /no list "none"/],
      ['/lists/urls-online/remove', {}, 400, /built in/],
      ['/lists/none/remove', {}, 404, /no list "none"/],
    ] as const) {
      assertError(await post(path, body), status, message);
    }
    assert.deepEqual(await change('/lists/own/remove'), changed);
    assert.deepEqual((await read('/lists')).items, builtIn);
    assert.deepEqual(
      await audited(),
      ['add', 'set', 'remove'].map((action) => `${BY_ADMIN} list.${action} own`),
    );
    assertError(await asCustomer('POST', '/lists'), 403);
  });

  test('of two lists of one name that are defined at the same time, one is refused', async (t) => {
    const { post, control, audited } = await asAdmin(t);
    const kinds = ['urls', 'hosts'];
    const responses = await Promise.all(kinds.map((kind) => post('/lists', { name: 'own', kind })));
    assert.deepEqual(responses.map(({ statusCode }) => statusCode).toSorted(), [200, 400]);
    const kept = responses.findIndex(({ statusCode }) => statusCode === 200);
    assertError(responses[1 - kept] ?? assert.fail(), 400, /^There is already a list own/);
    assert.deepEqual(
      (await control.listDefinitions()).map(({ kind }) => kind),
      [kinds[kept]],
    );
    assert.deepEqual(await audited(), [`${BY_ADMIN} list.add own`]);
  });

  test('exclusions', async (t) => {
    const { read, change, post, audited, audit } = await asAdmin(t);
    const body = { value: 'shop[.]example', subdomains: true, reason: 'a customer', until_ts: NOW + DAY };
    const shop = await change('/exclusions', body);
    assert.deepEqual(shop, {
      id: shop.id,
      kind: 'host',
      value: 'shop.example',
      subdomains: true,
      list: null,
      reason: 'a customer',
      set_ts: NOW,
      until_ts: NOW + DAY,
      ended: false,
    });
    const network = await change('/exclusions', { value: '203.0.113.7/24', list: 'addresses-xbl', reason: 'ours' });
    assert.deepEqual(
      (await audit(2)).map(({ changes }) => changes.list?.new),
      ['all', 'addresses-xbl'],
    );
    assert.deepEqual((await read('/exclusions')).items, [network, shop]);
    const again = await change('/exclusions', { ...body, subdomains: false, reason: 'still' });
    assert.deepEqual(again, { ...shop, subdomains: false, reason: 'still' });
    assert.deepEqual((await audit(1))[0]?.changes, {
      subdomains: { old: true, new: false },
      reason: { old: 'a customer', new: 'still' },
    });
    for (const [sent, status, message] of [
      [{ value: 'shop.example' }, 400, /"reason" is missing/],
      [{ value: 'a b', reason: 'x' }, 400, /no host/],
      [{ ...body, until_ts: NOW }, 400, /in the past/],
      [{ ...body, list: 'none' }, 404, /no list "none"/],
    ] as const) {
      assertError(await post('/exclusions', sent), status, message);
    }
    assert.deepEqual(await change(`/exclusions/${network.id}/remove`), network);
    assertError(await post(`/exclusions/${network.id}/remove`), 404, /no exclusion/);
    assertError(await post('/exclusions/x/remove'), 404);
    assert.deepEqual(await audited(), [
      `${BY_ADMIN} exclusion.add shop.example`,
      `${BY_ADMIN} exclusion.add 203.0.113.0/24`,
      `${BY_ADMIN} exclusion.add shop.example`,
      `${BY_ADMIN} exclusion.remove 203.0.113.0/24`,
    ]);
  });

  test('keys', async (t) => {
    const { read, change, get, post, audit, control } = await asAdmin(t);
    const { key, ...made } = await change('/list-keys', { list: 'urls-online', device: 'proxy', username: USERNAME });
    assert.deepEqual(made, {
      id: made.id,
      list: 'urls-online',
      device: 'proxy',
      created_ts: NOW,
      username: USERNAME,
      last_fetch_ts: null,
      last_fetch_address: null,
      last_fetch_etag: null,
    });
    assert.equal((await control.findListKey(keyHash(key)))?.id, made.id);
    const keys = await read('/list-keys');
    assert.deepEqual(keys, { items: [made], truncated: false });
    assert.deepEqual((await read('/list-keys?list=addresses-xbl')).items, []);
    assert.deepEqual(await read('/list-keys?list=urls-online'), keys);
    assertError(await get('/list-keys?list=none'), 404);
    const wrong = { list: 'urls-online', device: 'proxy', username: 'nobody' };
    assertError(await post('/list-keys', wrong), 404, /no account "nobody"/);
    assertError(await post('/list-keys', { ...wrong, username: USERNAME, list: 'none' }), 404, /no list "none"/);
    assertError(await post('/list-keys', { ...wrong, username: USERNAME, device: '' }), 400, /"device"/);
    const [tier = assert.fail()] = await control.tiers();
    await control.putTier({ ...tier, ads: ['URL'] });
    const lacking = { ...wrong, username: USERNAME, list: 'domains-listed' };
    assertError(
      await post('/list-keys', lacking),
      409,
      /lacks the dataset DOMAIN, which the list domains-listed needs/,
    );
    assert.deepEqual(await change(`/list-keys/${made.id}/remove`), made);
    assertError(await post(`/list-keys/${made.id}/remove`), 404);
    assert.equal(await control.findListKey(keyHash(key)), null);
    const [added, removed] = await audit(2);
    const fields = { key_id: made.id, device: 'proxy', account: USERNAME };
    assert.deepEqual(
      [added?.action, added?.subject, removed?.action, removed?.subject],
      ['list-key.add', 'urls-online', 'list-key.remove', 'urls-online'],
    );
    for (const [name, value] of Object.entries(fields)) {
      assert.deepEqual(added?.changes[name], { old: null, new: value });
      assert.deepEqual(removed?.changes[name], { old: value, new: null });
    }
    assert.ok(!JSON.stringify([added, removed, keys]).includes(key.slice(4)), 'the key itself is nowhere');
  });
});

describe('what accounts do with their own keys', () => {
  test('a key that is made counts as a query, so that the limits bound the audit log; a refusal counts nothing', async (t) => {
    const { app, logIn } = await withAccounts(t, { qmh: 2 });
    const own = await logIn();
    const post = (url: string, payload: object) => app.inject(authorized({ method: 'POST', url, payload }, own));
    const make = (list: string) => post(paths.portalListKeys, { list, device: 'firewall' });
    for (let i = 0; i < 2; i++) {
      assertError(await make('none'), 404);
      const made = await make('urls-online');
      assert.equal(made.statusCode, 200);
      const removed = await post(paths.portalListKeyRemove.replace(':id', made.json().id), {});
      assert.equal(removed.statusCode, 200);
    }
    assertError(await make('urls-online'), 429, /qmh/);
  });

  test('an account sees the lists, and makes and revokes keys of its own', async (t) => {
    const { app, control, logIn, refresh } = await withAccounts(t, { ads: ['URL', 'XBL'] });
    await createAccount(control, { username: OTHER, password: PASSWORD, tier: 'standard' }, NOW);
    await refresh();
    const [own, other] = [await logIn(), await logIn(OTHER)];
    const get = (url: string, by = own) => app.inject(authorized({ method: 'GET', url }, by));
    const post = (url: string, payload: object, by = own) =>
      app.inject(authorized({ method: 'POST', url, payload }, by));
    const removePath = (id: number) => paths.portalListKeyRemove.replace(':id', `${id}`);

    const allowed = (await get(paths.portalLists))
      .json()
      .items.map((item: Record<string, unknown>) => [item.name, item.allowed]);
    assert.deepEqual(allowed, [
      ['urls-online', true],
      ['hosts-malware', true],
      ['domains-listed', false],
      ['addresses-bcl', false],
      ['addresses-xbl', true],
    ]);
    const response = await post(paths.portalListKeys, { list: 'addresses-xbl', device: 'firewall' });
    assert.deepEqual([response.statusCode, response.headers['cache-control']], [200, 'no-store']);
    const { key, ...made } = response.json();
    assert.match(key, /^uwk_/);
    assert.deepEqual((await get(paths.portalListKeys)).json().items, [made]);
    assert.deepEqual((await get(paths.portalListKeys, other)).json().items, []);
    const forbidden = { list: 'domains-listed', device: 'firewall' };
    assertError(await post(paths.portalListKeys, forbidden), 403, /not part of this subscription/);
    assertError(await post(paths.portalListKeys, { ...forbidden, list: 'none' }), 404);
    assertError(await post(removePath(made.id), {}, other), 404, /no key/);
    assert.deepEqual((await post(removePath(made.id), {})).json(), made);
    assert.equal(await control.findListKey(keyHash(key)), null);
    const filter = { sinceTs: 0, untilTs: Number.MAX_SAFE_INTEGER, subject: null, action: 'list-key', limit: 9 };
    assert.deepEqual(
      (await control.auditEntries(filter)).map(({ action, actor, source, subject }) => [
        action,
        actor,
        source,
        subject,
      ]),
      ['remove', 'add'].map((verb) => [`list-key.${verb}`, USERNAME, 'api', 'addresses-xbl']),
    );
  });
});
