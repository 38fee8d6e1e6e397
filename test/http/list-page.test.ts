import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { paths } from '../../src/core/paths.ts';
import { assertError, NOW } from './build.ts';
import { withAccounts } from './with-accounts.ts';

describe('what the page of lists asks for', () => {
  test('lists: their formats, and the numbers of those that were fetched', async (t) => {
    const world = await withAccounts(t);
    const headers = { authorization: await world.logIn() };
    const read = async () => (await world.app.inject({ url: paths.portalLists, headers })).json().items;
    const before = await read();
    assert.deepEqual(before[0].formats[0].name, 'txt');
    assert.ok(before.every((list: { entries: number | null }) => list.entries === null));
    await world.app.inject({ url: '/api/lists/v1/hosts-malware.txt?max=1', headers });
    const [, hosts, ...others] = await read();
    assert.deepEqual([hosts.name, hosts.entries, hosts.left_out], ['hosts-malware', 1, { address: 1 }]);
    assert.ok(hosts.serial_ts >= NOW);
    assert.ok(others.every((list: { entries: number | null }) => list.entries === null));
  });

  test('why something is not on a list', async (t) => {
    const world = await withAccounts(t);
    const headers = { authorization: await world.logIn() };
    const ask = (name: string, text: string) =>
      world.app.inject({
        method: 'POST',
        url: paths.portalListExplain.replace(':name', name),
        headers,
        payload: { text },
      });
    assert.deepEqual((await ask('hosts-malware', 'SITE.example')).json(), {
      subject: 'site.example',
      on_list: true,
      reasons: [],
    });
    const { reasons } = (await ask('hosts-malware', '192.0.2.1')).json();
    assert.deepEqual(
      reasons.map(({ reason }: { reason: string }) => reason),
      ['address'],
    );
    assertError(await ask('hosts-malware', 'two words'), 400, /a host name, an address or a network/);
    assertError(await ask('none', 'site.example'), 404, /no list "none"/);
  });

  test('an account without the dataset gets neither numbers nor explanations', async (t) => {
    const world = await withAccounts(t, { ads: ['XBL'] });
    const headers = { authorization: await world.logIn() };
    const url = paths.portalListExplain.replace(':name', 'urls-online');
    const response = await world.app.inject({ method: 'POST', url, headers, payload: { text: 'site.example' } });
    assertError(response, 403, /URL is not part of this subscription/);
  });
});
