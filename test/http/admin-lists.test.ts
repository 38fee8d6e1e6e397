import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { temporaryIntelligence } from '../engine.ts';
import { asAdmin, BY_ADMIN } from './as-admin.ts';
import { assertError, DAY, NOW } from './build.ts';

describe('what administrators set by hand', () => {
  test('domains', async (t) => {
    const { get, post, audited, asCustomer } = await asAdmin(t);
    const first = await post('/domains', { domain: 'shop[.]example', human: 25, reason: 'cleaned' });
    const shop = { domain: 'shop.example', human: 25, abused: null, reason: 'cleaned', set_ts: NOW };
    assert.deepEqual(first.json(), shop);
    await post('/domains', { domain: 'files.example', abused: true });
    await post('/domains', { domain: 'files.example', abused: null });
    assert.deepEqual((await get('/domains')).json(), { items: [shop], truncated: false });
    for (const [body, message] of [
      [{ domain: 'shop.example' }, /"human" or "abused" is missing/],
      [{ domain: 'shop.example', human: 1 }, /"reason" is missing/],
      [{ domain: 'shop.example', human: 51, reason: 'x' }, /"human"/],
      [{ domain: 'www.shop.example', abused: true }, /is a name below shop\.example/],
      [{ domain: '192.0.2.1', abused: true }, /is an address/],
    ] as const) {
      assertError(await post('/domains', body), 400, message);
    }
    const actions = ['shop.example', 'files.example', 'files.example'];
    assert.deepEqual(
      await audited(),
      actions.map((name) => `${BY_ADMIN} domain.set ${name}`),
    );
    assertError(await asCustomer('GET', '/domains'), 403);
    assertError(await asCustomer('POST', '/domains'), 403);
  });

  test('listings', async (t) => {
    const { get, post, audited, asCustomer } = await asAdmin(t);
    const body = { cidr: '203.0.113.7', dataset: 'BCL', botname: 'Emotet', port: 443, reason: 'seen by us' };
    const added = (await post('/listings', body)).json();
    const { cidr, state, botname, port, valid_until_ts, details } = added;
    assert.deepEqual(
      { cidr, state, botname, port, valid_until_ts, details },
      {
        cidr: '203.0.113.7',
        state: 'live',
        botname: 'Emotet',
        port: 443,
        valid_until_ts: NOW + 7 * DAY,
        details: { detection: 'seen by us' },
      },
    );
    assert.deepEqual((await get('/listings')).json().added, [added]);
    const gone = await post('/listings/remove', { cidr: '203.0.113.7', for_seconds: DAY, reason: 'a mistake' });
    const removal = { cidr: '203.0.113.7', dataset: 'BCL', source: 'operator', reason: 'a mistake' };
    const removed = [{ ...removal, removed_ts: NOW, until_ts: NOW + DAY }];
    assert.deepEqual(gone.json(), { cidr: '203.0.113.7', removed, still_covered_by: [] });
    const after = (await get('/listings')).json();
    assert.deepEqual(after.removed, removed);
    assert.deepEqual(
      after.added.map((one: { state: string }) => one.state),
      ['removed'],
    );
    assertError(await post('/listings/remove', { cidr: '203.0.113.7' }), 404, /no live listing/);
    assertError(await post('/listings', { ...body, cidr: 'nowhere' }), 400, /^"cidr" must be like/);
    assertError(await post('/listings', { ...body, dataset: 'ABC' }), 400);
    await post('/listings', body);
    assert.equal((await get('/listings')).json().added[0].state, 'live');
    const actions = ['add', 'remove', 'add'];
    assert.deepEqual(
      await audited(),
      actions.map((action) => `${BY_ADMIN} listing.${action} 203.0.113.7`),
    );
    assertError(await asCustomer('POST', '/listings'), 403);
    assertError(await asCustomer('POST', '/listings/remove'), 403);
  });

  test('a listing that another process allows meanwhile is recorded, although it is not live', async (t) => {
    const opened = await temporaryIntelligence(t);
    const store: typeof opened = {
      ...opened,
      async applyListings(evidence) {
        const changed = await opened.applyListings(evidence);
        const entry = { as: 'allow', source: 'office', ts: NOW, reason: '' } as const;
        await opened.applyLists(evidence.map(({ network }) => ({ ...entry, network })));
        return changed;
      },
    };
    const { post, audited } = await asAdmin(t, { services: { store } });
    const response = await post('/listings', { cidr: '203.0.113.7', dataset: 'XBL' });
    assertError(response, 409);
    assert.match(response.json().message, /^The listing was added, but/);
    assert.deepEqual(await audited(), [`${BY_ADMIN} listing.add 203.0.113.7`]);
  });

  test('an IPv6 network around the keys of IPv4 allows no IPv4 address', async (t) => {
    const { post, store } = await asAdmin(t);
    const network = { ip: new Uint8Array(16), prefix: 16 };
    await store.applyLists([{ as: 'allow', network, source: 'wide', ts: NOW, reason: '' }]);
    assert.equal((await post('/listings', { cidr: '203.0.113.7', dataset: 'XBL' })).statusCode, 200);
    const response = await post('/allow/remove', { cidr: '203.0.113.7' });
    assertError(response, 404, /is not on an allow list/);
    assert.doesNotMatch(response.body, /It is inside/);
  });

  test('the allow list', async (t) => {
    const { get, post, store, audited, asCustomer } = await asAdmin(t);
    const network = { ip: new Uint8Array(16), prefix: 128 };
    await store.applyLists([{ as: 'allow', network, source: 'office', ts: NOW, reason: '' }]);
    const own = (await post('/allow', { cidr: '203.0.113.0/24', reason: 'our own' })).json();
    assert.deepEqual(own, { cidr: '203.0.113.0/24', source: 'operator', ts: NOW, reason: 'our own' });
    const { items, truncated } = (await get('/allow')).json();
    assert.deepEqual([items[0], items.length, truncated], [own, 2, false]);
    assertError(await post('/listings', { cidr: '203.0.113.7', dataset: 'XBL' }), 400, /on an allow list/);
    assertError(await post('/allow/remove', { cidr: '203.0.113.7' }), 404, /It is inside 203\.0\.113\.0\/24/);
    assert.deepEqual((await post('/allow/remove', { cidr: '203.0.113.0/24' })).json(), { items: [own] });
    assert.equal((await get('/allow')).json().items.length, 1);
    assert.deepEqual(await audited(), [
      `${BY_ADMIN} allow.add 203.0.113.0/24`,
      `${BY_ADMIN} allow.remove 203.0.113.0/24`,
    ]);
    assertError(await asCustomer('POST', '/allow'), 403);
    assertError(await asCustomer('POST', '/allow/remove'), 403);
  });
});
