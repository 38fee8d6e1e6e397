import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseDomainName } from '../../../src/core/domain-name.ts';
import type { AddressDataset, DomainFact } from '../../../src/core/evidence.ts';
import { collect, seen } from '../../urls/contract/observations.ts';
import { DAY, listed, networkOf, shown, T } from './evidence.ts';
import type { OpenStore } from './index.ts';

function addressFact(hostname: string, ts: number, ...ips: string[]): DomainFact {
  const parsed = parseDomainName(hostname);
  assert.ok(parsed.ok);
  return { ts, name: parsed.name, kind: 'a', ips: ips.map((ip) => networkOf(ip).ip) };
}

const online = (url: string, day: number, more: object = {}) =>
  seen({ ts: T + day * DAY, url, status: 'online', ...more });
const offline = (url: string, day: number) => seen({ ts: T + day * DAY, url, status: 'offline' });

/** The tests of reads for lists that every engine must pass. */
export function listReadsSuite(open: OpenStore): void {
  suite('reads for lists', () => {
    test('listings of sources and of URLs, as a query about the whole network finds them', async (t) => {
      const store = await open(t);
      await store.applyListings([
        listed('192.0.2.0/25'),
        listed('192.0.2.7', { dataset: 'BCL', family: 'Mirai', port: 443 }),
        listed('192.0.2.7', { dataset: 'BCL', source: 'other', ts: T - DAY }),
        listed('192.0.2.8', { dataset: 'XBL', ts: T - 90 * DAY }),
        listed('2001:db8::/48', { dataset: 'CSS' }),
      ]);
      await store.apply([
        online('http://192.0.2.1/', 0, { payload: { family: 'Mozi' } }),
        online('http://192.0.2.1/b', -9),
        offline('http://192.0.2.1/b', -8),
        online('http://192.0.2.2/', -3),
        offline('http://192.0.2.2/', 0),
        online('http://192.0.2.3/', -90),
        online('http://192.0.2.3/', 0),
        online('http://192.0.2.4/', -90),
        offline('http://192.0.2.4/', -89),
        online('http://name.example/', 0),
      ]);
      const ofList = async (datasets: readonly AddressDataset[], sinceTs: number) =>
        shown(await collect(store.listingsForList(datasets, sinceTs)));
      const asked = async (datasets: readonly AddressDataset[], sinceTs: number) => {
        const query = { inside: true, covering: false, datasets, seenSinceTs: sinceTs };
        const networks = ['192.0.2.0/24', '2001:db8::/32'].map((text) => networkOf(text));
        return shown((await Promise.all(networks.map((network) => store.listings({ network, ...query })))).flat());
      };
      const all = ['XBL', 'CSS', 'BCL', 'DROP'] as const;
      assert.equal((await asked(all, T - 30 * DAY)).length, 8);
      assert.deepEqual(await ofList(all, T - 30 * DAY), await asked(all, T - 30 * DAY));
      assert.deepEqual(await ofList(['BCL'], T), await asked(['BCL'], T));
      assert.deepEqual(await ofList(['DROP', 'XBL'], T - DAY), await asked(['DROP', 'XBL'], T - DAY));
    });

    test('domains with a sighting, evidence or a fact since a time, and those that the operator listed', async (t) => {
      const store = await open(t);
      await store.apply([online('http://old.example/', -40), online('http://www.new.example/', 0)]);
      await store.applyDomains([], [addressFact('a.fact.example', T, '192.0.2.1')]);
      await store.setDomain('set.example', { human: -10, isAbused: null, reason: '', setTs: T - 90 * DAY });
      await store.setDomain('liked.example', { human: 5, isAbused: null, reason: '', setTs: T });
      const names = await collect(store.domainsForList(T));
      assert.deepEqual(names.sort(), ['fact.example', 'new.example', 'set.example']);
      const asked = ['old.example', 'unknown.example', 'set.example'];
      const states = await store.domainStates(asked);
      assert.deepEqual(states, await Promise.all(asked.map((name) => store.domainState(name))));
      assert.equal(states[1], null);
    });

    test('a name on a list is kept beside its registrable domain', async (t) => {
      const store = await open(t);
      const entry = { source: 'list', ts: T };
      await store.applyLists([
        { source: 'cloud', ts: T, as: 'shared', network: networkOf('192.0.2.0/24'), reason: '' },
      ]);
      assert.equal(await store.hasNameLists(), false);
      await store.applyLists([
        { ...entry, as: 'shared', name: 'docs.site.example' },
        { ...entry, as: 'dyndns', name: 'site.example' },
      ]);
      const lists = await store.nameLists(['docs.site.example', 'site.example', 'other.site.example']);
      const kinds = [...lists].map(([name, found]) => `${name} ${found.map(({ kind }) => kind)}`);
      assert.deepEqual(kinds.sort(), ['docs.site.example shared', 'site.example dyndns,shared']);
      assert.equal(await store.hasNameLists(), true);
      assert.equal(await store.finishList('list', T + 1), 3);
      assert.equal(await store.hasNameLists(), false);
    });

    test('the names on lists that can be below a host name', async (t) => {
      const store = await open(t);
      assert.equal((await store.nameListsBelowHosts()).size, 0);
      const names = ['site.example', 'www.site.example', 'b.a.site.example', 'c.b.a.site.example'];
      await store.applyLists([
        ...names.map((name) => ({ source: 'list', ts: T, as: 'shared', name }) as const),
        { source: 'another', ts: T, as: 'dyndns', name: 'b.a.site.example' },
      ]);
      const name = { hostname: 'a.b.c.s3.amazonaws.com', domain: 'c.s3.amazonaws.com' };
      await store.applyDomains([], [{ ts: T, name, kind: 'rank', source: 'top', rank: 5 }]);
      const found = [...(await store.nameListsBelowHosts())].map(
        ([name, lists]) => `${name} ${lists.map(({ kind, source }) => `${kind}/${source}`)}`,
      );
      assert.deepEqual(found, ['b.a.site.example dyndns/another,shared/list', 'c.b.a.site.example shared/list']);
    });

    test('the domains at an address, by facts and by URLs', async (t) => {
      const store = await open(t);
      const ip = '192.0.2.1';
      await store.apply([
        online('http://a.one.example/', 0, { ip }),
        online('http://b.one.example/', 0, { ip }),
        online('http://old.example/', -200, { ip }),
        online(`http://${ip}/`, 0),
      ]);
      await store.applyDomains([], [addressFact('x.one.example', T, ip), addressFact('two.example', T - 40 * DAY, ip)]);
      await store.applyDomains([], [addressFact('old2.example', T - 200 * DAY, ip, '2001:db8::1')]);
      const networks = [ip, '192.0.2.0/24', '192.0.2.2', '2001:db8::/64'].map(networkOf);
      assert.deepEqual(await store.domainsAt(networks, T - 90 * DAY, T), [2, 2, 0, 0]);
      assert.deepEqual(await store.domainsAt(networks, T - 300 * DAY, T), [4, 4, 0, 1]);
    });
  });
}
