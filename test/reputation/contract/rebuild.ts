import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import { DAY, NEW_YEAR, seen } from '../../urls/contract/observations.ts';
import { domainRows } from '../../urls/contract/sightings.ts';
import type { OpenTables } from '../../urls/tables.ts';

const T = NEW_YEAR;

/** The rows that an older program has left. */
const OLD_DATA = `
  update hosts set domain_id = null, ip = null;
  delete from domains;
  delete from url_sightings;
  delete from name_addresses`;

const HOSTS = `
  select h.host, d.name, h.ip from hosts h left join domains d on d.id = h.domain_id order by h.host`;

const domainId = (name: string) => `(select id from domains where name = '${name}')`;
const hostId = (host: string) => `(select id from hosts where host = '${host}')`;

const OBSERVATIONS = [
  seen({ ts: T, url: 'http://www.a.example/1', ip: '192.0.2.1' }),
  seen({ ts: T + 9, url: 'http://www.a.example/1' }),
  seen({ ts: T + DAY, url: 'http://www.a.example/1', status: 'offline', ip: '192.0.2.1' }),
  seen({ ts: T + 5, url: 'http://other.a.example/2', status: 'offline' }),
  seen({ ts: T + 7, url: 'http://other.a.example/3', status: null, ip: '192.0.2.2' }),
  seen({ ts: T + 3, url: 'http://b.example/' }),
  seen({ ts: T, url: 'http://192.0.2.3/' }),
  seen({ ts: T, url: 'http://[2001:db8::3]/' }),
  seen({ ts: T, url: 'http://github.io/', ip: '192.0.2.4' }),
];

async function rebuildAll(store: Intelligence) {
  const total = { calls: 0, hostsChanged: 0, urlsChanged: 0, share: 0 };
  for (;;) {
    const { isDone, share, hostsChanged, urlsChanged } = await store.rebuildHosts();
    total.calls++;
    total.hostsChanged += hostsChanged;
    total.urlsChanged += urlsChanged;
    assert.ok(share >= total.share && share <= 1);
    total.share = share;
    if (isDone) return total;
  }
}

export function rebuildSuite(open: OpenTables): void {
  suite('a rebuild of hosts', () => {
    test('gives data of an older program its domains, and what they know from URLs', async (t) => {
      const tables = await open(t);
      await tables.store.apply(OBSERVATIONS);
      const before = [await tables.rows(HOSTS), await domainRows(tables)];
      await tables.run(OLD_DATA);
      const { calls: _, ...changed } = await rebuildAll(tables.store);
      assert.deepEqual(changed, { hostsChanged: 5, urlsChanged: changed.urlsChanged, share: 1 });
      assert.deepEqual([await tables.rows(HOSTS), await domainRows(tables)], before);
      const again = await rebuildAll(tables.store);
      assert.deepEqual([again.hostsChanged, again.urlsChanged], [0, 0]);
      assert.deepEqual([await tables.rows(HOSTS), await domainRows(tables)], before);
    });

    test('moves what is known about a host to its domain by the new list of suffixes', async (t) => {
      const tables = await open(t);
      await tables.store.apply(OBSERVATIONS);
      const [a, b, www] = [domainId('a.example'), domainId('b.example'), hostId('www.a.example')];
      const evidence = (domain: string, kind: number, values: string) =>
        `insert into domain_evidence values (${domain}, 1, ${kind}, ${www}, ${values});`;
      await tables.run(`
        insert into name_addresses select domain_id, host_id, ip, day, 1, ts from name_addresses where host_id = ${www};
        insert into name_servers values (${b}, ${www}, 1, 1);
        insert into senders select ${b}, ip, '', 1 from name_addresses limit 1;
        insert into domain_settings values (${b}, 5, null, '', 1);`);
      const stays = async () => [
        await tables.rows('select * from name_servers'),
        await tables.rows('select * from senders'),
        await tables.rows('select * from domain_settings'),
      ];
      const before = [await tables.rows(HOSTS), await domainRows(tables), await stays()];
      // As if the old list had said that www.a.example belongs to b.example and that github.io is a domain.
      await tables.run(`
        ${evidence(b, 0, "50, 50, 90, 10, 60, 'old'")} ${evidence(a, 0, "40, 40, 80, 20, 70, 'new'")}
        ${evidence(b, 1, "7, 7, 7, 7, 7, 'alone'")}
        update hosts set domain_id = ${b} where id in (${www}, ${hostId('github.io')});
        update name_addresses set domain_id = ${b} where host_id = ${www};
        insert into name_addresses select ${a}, host_id, ip, day, origin, ts - 1 from name_addresses
          where host_id = ${www} and day = ${Math.floor(T / DAY)};
        update url_sightings set domain_id = ${b} where host_id = ${www};
        insert into url_sightings select id, ${b}, host_id, ${T} from urls where url = 'http://github.io/';
        update domains set first_url_ts = ${T} where id = ${b};
        update domains set first_url_ts = null where id = ${a};`);
      assert.equal((await rebuildAll(tables.store)).hostsChanged, 2);
      assert.deepEqual([await tables.rows(HOSTS), await domainRows(tables), await stays()], before);
      assert.deepEqual(
        await tables.rows(`
          select d.name, e.kind, e.rank, e.best_ts, e.best_confidence, e.first_ts, e.last_ts, e.details
          from domain_evidence e join domains d on d.id = e.domain_id order by e.kind`),
        ['a.example 0 50 50 90 10 70 new', 'a.example 1 7 7 7 7 7 alone'],
      );
    });

    test('continues after an interruption, and an unfinished one is no fault', async (t) => {
      const tables = await open(t);
      await tables.store.apply(OBSERVATIONS);
      const before = await domainRows(tables);
      await tables.run(OLD_DATA);
      const { isDone, hostsChanged } = await tables.store.rebuildHosts();
      assert.deepEqual([isDone, hostsChanged], [false, 5]);
      assert.deepEqual(await tables.rows('select step, after_id from domain_rebuild'), ['1 0']); // the hosts are done
      assert.deepEqual((await domainRows(tables)).sightings, []);
      assert.deepEqual((await tables.store.checkRows('urls', [0])).faults, []);
      await rebuildAll(tables.store);
      assert.deepEqual(await tables.rows('select count(*) from domain_rebuild'), ['0']);
      assert.deepEqual((await tables.store.checkRows('urls', [0])).faults, []);
      assert.deepEqual(await domainRows(tables), before);
    });

    test('beside imports loses nothing of them', async (t) => {
      const [tables, other] = [await open(t), await open(t)];
      const batch = (round: number, from: number, count: number) =>
        Array.from({ length: count }, (_, i) =>
          seen({
            ts: T + ((round * 7) % 5),
            url: `http://h${(from + i) % 700}.d${i % 40}.example/${from + i}`,
            ...(i % 50 === 0 && { ip: `192.0.2.${i % 7}` }),
          }),
        );
      await tables.store.apply(batch(0, 0, 1_200));
      await tables.run(OLD_DATA);
      let isDone = false;
      const rebuilding = rebuildAll(tables.store).finally(() => {
        isDone = true;
      });
      const batches = [batch(0, 0, 1_200)];
      // Known URLs are confirmed, and new ones are added on the same hosts.
      for (let round = 1; !isDone || round < 4; round++) {
        const next = batch(round, round * 100, 400);
        await tables.store.apply(next);
        batches.push(next);
      }
      const { calls } = await rebuilding;
      assert.ok(calls > 4);
      for (const one of batches) await other.store.apply(one);
      const [sightings, expected] = [await domainRows(tables), await domainRows(other)];
      assert.deepEqual([sightings.sightings, sightings.first], [expected.sightings, expected.first]);
      assert.equal(sightings.addresses.length, expected.addresses.length);
      assert.deepEqual((await tables.store.checkRows('urls', [0])).faults, []);
    });
  });
}
