import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { suite, test } from 'node:test';
import { DEFAULT_FILTER } from '../../../src/exports/built-in.ts';
import type { Exclusion, ListDefinition } from '../../../src/exports/store.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { ADA, BOB } from '../../app/control-records.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest();

const PARTNERS: ListDefinition = {
  name: 'partners',
  kind: 'hosts',
  description: 'For "partners" ü',
  changedTs: 100,
  filter: { ...DEFAULT_FILTER, status: 'any', maxAgeSeconds: 86_400, families: ['Mirai', 'a, b'], maxScore: -10.5 },
};

const SHOP: Omit<Exclusion, 'id'> = {
  match: { kind: 'host', host: 'shop.example', withSubdomains: true },
  list: null,
  reason: 'a customer',
  setTs: 100,
  untilTs: null,
};

export function controlListsSuite(open: OpenControl): void {
  suite('lists for devices', () => {
    test('definitions are added, changed and removed; each change raises the version', async (t) => {
      const control = await open(t);
      let version = await control.listsVersion();
      const isRaised = async () => {
        const before = version;
        version = await control.listsVersion();
        return version > before;
      };
      const other: ListDefinition = { ...PARTNERS, name: 'addresses', kind: 'addresses' };
      await control.addListDefinition(PARTNERS);
      assert.ok(await isRaised());
      await control.addListDefinition(other);
      assert.ok(await isRaised());
      assert.deepEqual(await control.listDefinitions(), [other, PARTNERS]);
      const changed = { ...PARTNERS, description: '', filter: DEFAULT_FILTER, changedTs: 101 };
      assert.equal(await control.changeListDefinition(changed), true);
      assert.ok(await isRaised());
      assert.deepEqual(await control.listDefinitions(), [other, changed]);
      assert.equal(await control.removeListDefinition('addresses'), true);
      assert.ok(await isRaised());
      assert.equal(await control.removeListDefinition('addresses'), false);
      assert.equal(await control.changeListDefinition(other), false, 'a removed list does not come back');
      assert.deepEqual(await control.listDefinitions(), [changed]);
    });

    test('of concurrent additions of one name, the first stays and the others are refused', async (t) => {
      const control = await open(t);
      const added = Array.from({ length: 5 }, (_, i) => ({ ...PARTNERS, changedTs: i }));
      const isAdded = await Promise.all(added.map((list) => control.addListDefinition(list)));
      assert.equal(isAdded.filter(Boolean).length, 1);
      assert.deepEqual(await control.listDefinitions(), [added[isAdded.indexOf(true)]]);
      assert.equal(await control.addListDefinition({ ...PARTNERS, kind: 'urls' }), false);
      assert.deepEqual(await control.listDefinitions(), [added[isAdded.indexOf(true)]]);
    });

    test('exclusions are returned as they were added, the newest first; the same again replaces', async (t) => {
      const control = await open(t);
      await control.addListDefinition(PARTNERS);
      const others: Omit<Exclusion, 'id'>[] = [
        { ...SHOP, match: { kind: 'url', prefix: `https://files.example/${'a'.repeat(8_000)}` }, untilTs: 500 },
        { ...SHOP, match: { kind: 'network', network: '203.0.113.0/24' }, list: 'urls-online' },
        { ...SHOP, list: 'partners' },
      ];
      let version = await control.listsVersion();
      const first = await control.addExclusion(SHOP, 0);
      assert.ok((await control.listsVersion()) > version);
      const ids = [first];
      for (const one of others) ids.push(await control.addExclusion(one, 0));
      const expected = [SHOP, ...others].map((one, i) => ({ id: ids[i] ?? 0, ...one })).reverse();
      assert.deepEqual(await control.exclusions(), expected);
      assert.deepEqual(await control.exclusions(2), expected.slice(0, 2));
      assert.deepEqual(await control.exclusion(first), { id: first, ...SHOP });

      const again: Omit<Exclusion, 'id'> = { ...SHOP, reason: 'again', setTs: 200, untilTs: 300 };
      again.match = { kind: 'host', host: 'shop.example', withSubdomains: false };
      assert.equal(await control.addExclusion(again, 0), first);
      assert.deepEqual(await control.exclusion(first), { id: first, ...again });
      assert.equal((await control.exclusions()).length, 4);

      version = await control.listsVersion();
      assert.equal(await control.removeExclusion(first), true);
      assert.ok((await control.listsVersion()) > version);
      assert.equal(await control.removeExclusion(first), false);
      assert.equal(await control.exclusion(first), null);
    });

    test('an addition deletes exclusions that ended long ago; ids are not used again', async (t) => {
      const control = await open(t);
      const ended = await control.addExclusion({ ...SHOP, untilTs: 200 }, 0);
      const match = { kind: 'network', network: '192.0.2.1' } as const;
      assert.equal(await control.addExclusion({ ...SHOP, match }, 200), ended + 1);
      assert.equal((await control.exclusions()).length, 2, 'ended at the bound');
      await control.addExclusion({ ...SHOP, match }, 201);
      assert.deepEqual(
        (await control.exclusions()).map(({ id }) => id),
        [ended + 1],
      );
      await control.removeExclusion(ended + 1);
      assert.ok((await control.addExclusion(SHOP, 0)) > ended + 1);
    });

    test('keys are found by their hash, and listed by list and account', async (t) => {
      const control = await open(t);
      await control.addAccount(ADA);
      await control.addAccount(BOB);
      await control.addListDefinition(PARTNERS);
      const version = await control.listsVersion();
      const made = [
        { list: 'partners', device: 'firewall', sub: ADA.sub, createdTs: 1 },
        { list: 'urls-online', device: 'proxy ü', sub: ADA.sub, createdTs: 2 },
        { list: 'partners', device: 'resolver', sub: BOB.sub, createdTs: 3 },
      ];
      const ids: number[] = [];
      for (const key of made) ids.push(await control.addListKey(key, hashOf(key.device)));
      const keys = made.map((key, i) => ({ id: ids[i] ?? 0, ...key, lastFetch: null }));
      const [firewall, proxy, resolver] = keys;
      assert.deepEqual(await control.listKeys({}), [resolver, proxy, firewall]);
      assert.deepEqual(await control.listKeys({ limit: 1 }), [resolver]);
      assert.deepEqual(await control.listKeys({ list: 'partners' }), [resolver, firewall]);
      assert.deepEqual(await control.listKeys({ sub: ADA.sub, limit: 5 }), [proxy, firewall]);
      assert.deepEqual(await control.listKeys({ sub: ADA.sub, list: 'partners' }), [firewall]);
      assert.deepEqual(await control.listKey(ids[1] ?? 0), proxy);
      assert.deepEqual(await control.findListKey(hashOf('firewall')), firewall);
      assert.equal(await control.findListKey(hashOf('nobody')), null);
      assert.equal(await control.listsVersion(), version, 'no list has to be built again for a key');

      assert.equal(await control.removeListKey(ids[0] ?? 0), true);
      assert.equal(await control.removeListKey(ids[0] ?? 0), false);
      assert.equal(await control.findListKey(hashOf('firewall')), null);
      const id = await control.addListKey({ ...made[0], device: 'new' } as (typeof made)[0], hashOf('new'));
      assert.ok(id > (ids[2] ?? 0), 'no id is used twice');
    });

    test('a list is removed with its keys and exclusions, an account with its keys', async (t) => {
      const control = await open(t);
      await control.addAccount(ADA);
      await control.addAccount(BOB);
      await control.addListDefinition(PARTNERS);
      const key = (list: string, sub: string) =>
        control.addListKey({ list, device: 'x', sub, createdTs: 1 }, randomBytes(32));
      await key('partners', ADA.sub);
      const kept = await key('urls-online', ADA.sub);
      await key('urls-online', BOB.sub);
      await control.addExclusion({ ...SHOP, list: 'partners' }, 0);
      const everywhere = await control.addExclusion(SHOP, 0);
      await control.removeListDefinition('partners');
      await control.removeAccount(BOB.sub, 5);
      assert.deepEqual(
        (await control.listKeys({})).map(({ id }) => id),
        [kept],
      );
      assert.deepEqual(
        (await control.exclusions()).map(({ id }) => id),
        [everywhere],
      );
      const notFound = { code: 'not_found' };
      await assert.rejects(key('partners', ADA.sub), notFound);
      await assert.rejects(key('urls-online', BOB.sub), notFound);
      await assert.rejects(control.addExclusion({ ...SHOP, list: 'partners' }, 0), notFound);
    });

    test('the same content has the same serial; another one has a greater one, whatever the clock says', async (t) => {
      const control = await open(t);
      const serial = (content: string, nowTs: number) => control.listSerial('partners', hashOf(content), nowTs);
      assert.equal(await serial('a', 1_000), 1_000);
      assert.equal(await serial('a', 2_000), 1_000);
      assert.equal(await serial('b', 2_000), 2_000);
      assert.equal(await serial('c', 1_500), 2_001, 'the clock was set back');
      assert.equal(await serial('a', 2_001), 2_002, 'also if it is as it was');
      assert.equal(await control.listSerial('other', hashOf('a'), 5), 5);
      await control.addListDefinition(PARTNERS);
      await control.removeListDefinition('partners');
      assert.equal(await serial('b', 1), 2_003, 'a new list of the same name continues');
    });

    test('of concurrent calls each content gets one serial', async (t) => {
      const control = await open(t);
      const contents = ['a', 'b', 'c', 'd'];
      const serials = await Promise.all(
        contents.flatMap((content) => [1, 2, 3].map(() => control.listSerial('partners', hashOf(content), 10))),
      );
      assert.equal(Math.min(...serials), 10);
      const newest = Math.max(...serials);
      const last = contents[Math.floor(serials.indexOf(newest) / 3)] ?? '';
      assert.equal(await control.listSerial('partners', hashOf(last), 10), newest);
      const greater = await Promise.all([1, 2, 3].map(() => control.listSerial('partners', hashOf('new'), 10)));
      assert.deepEqual(greater, [newest + 1, newest + 1, newest + 1]);
    });
  });
}
