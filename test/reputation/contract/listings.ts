import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Intelligence } from '../../../src/app/stores.ts';
import type { AddressDataset, ListingEvidence } from '../../../src/core/evidence.ts';
import { type ObservationInput, toObservation } from '../../../src/core/observation.ts';
import { ask, DAY, find, listed, T } from './evidence.ts';
import type { OpenStore } from './index.ts';

const LIFE: [AddressDataset, days: number][] = [
  ['XBL', 7],
  ['CSS', 3],
  ['BCL', 7],
  ['DROP', 3],
];

export function listingsSuite(open: OpenStore): void {
  suite('episodes', () => {
    test('a gap of the life joins, a longer one does not', async (t) => {
      const store = await open(t);
      for (const [dataset, days] of LIFE) {
        const at = (ts: number) => listed('192.0.2.1', { dataset, ts });
        await store.applyListings([at(T), at(T + days * DAY), at(T + 2 * days * DAY + 1)]);
        assert.deepEqual(await find(store, '192.0.2.1', { datasets: [dataset] }), [
          `192.0.2.1 ${dataset} feed 0…${days}`,
          `192.0.2.1 ${dataset} feed ${2 * days + 1 / DAY}…${2 * days + 1 / DAY}`,
        ]);
      }
    });

    test('an address with more listings than a statement reads has all of them, also around it', async (t) => {
      const store = await open(t);
      const ports = Array.from({ length: 2_600 }, (_, i) => i + 1);
      for (const cidr of ['192.0.2.1', '192.0.2.0/24'])
        await store.applyListings(ports.map((port) => listed(cidr, { dataset: 'BCL', port })));
      const found = await ask(store, '192.0.2.1', { datasets: ['BCL'] });
      assert.deepEqual(
        found.map(({ network, port }) => `${network.prefix} ${port}`).sort(),
        [120, 128].flatMap((prefix) => ports.map((port) => `${prefix} ${port}`)).sort(),
      );
      const together = await Promise.all(['192.0.2.1', '192.0.2.2'].map((ip) => ask(store, ip, { datasets: ['BCL'] })));
      assert.deepEqual(
        together.map(({ length }) => length),
        [2 * ports.length, ports.length],
      );
      assert.deepEqual(await ask(store, '192.0.2.1', { datasets: ['XBL'] }), []);
      assert.deepEqual(await ask(store, '192.0.2.1', { seenSinceTs: T + DAY }), []);
      assert.equal((await ask(store, '192.0.2.1', { inside: false })).length, 2 * ports.length);
    });

    test('the life of a source and of the interval of its feed', async (t) => {
      const store = await open(t);
      const source = { trustPermille: 500, lifeSeconds: null, intervalSeconds: null };
      await store.putSources([
        { ...source, name: 'short', lifeSeconds: DAY },
        { ...source, name: 'weekly', intervalSeconds: 7 * DAY },
      ]);
      for (const name of ['short', 'weekly']) {
        await store.applyListings([0, 2, 23].map((day) => listed('192.0.2.1', { source: name, ts: T + day * DAY })));
      }
      assert.deepEqual(await find(store, '192.0.2.1'), [
        '192.0.2.1 DROP short 0…0',
        '192.0.2.1 DROP short 23…23',
        '192.0.2.1 DROP short 2…2',
        '192.0.2.1 DROP weekly 0…23',
      ]);
      const [first] = await ask(store, '192.0.2.1', { seenSinceTs: T + 3 * DAY });
      assert.equal(first?.source.trustPermille, 500);
      await store.putSources([{ ...source, name: 'short', trustPermille: 600, lifeSeconds: 2 * DAY }]);
      const changed = (await ask(store, '192.0.2.1')).find(({ source }) => source.name === 'short')?.source;
      assert.deepEqual(
        { ...changed, id: 0 },
        { ...source, id: 0, name: 'short', trustPermille: 600, lifeSeconds: 2 * DAY },
      );
    });

    test('all ports of a network are read, page by page', async (t) => {
      const store = await open(t);
      const ports = [null, 0, 65_535, ...Array.from({ length: 1_100 }, (_, i) => i + 1)];
      const evidence = ports.map((port, i) =>
        listed(`192.0.2.${i % 2}`, {
          dataset: i % 3 === 0 ? 'BCL' : 'DROP',
          family: i % 5 === 0 ? 'Mirai' : null,
          port,
        }),
      );
      await store.applyListings(evidence);
      const keyOf = ({
        network,
        dataset,
        family,
        port,
      }: Pick<ListingEvidence, 'network' | 'dataset' | 'family' | 'port'>) =>
        [network.ip.join('.'), network.prefix, dataset, family, port].join(' ');
      assert.deepEqual((await ask(store, '192.0.2.0/24')).map(keyOf).sort(), evidence.map(keyOf).sort());
    });

    test('family, port, source and dataset are different listings; details are those of the newest evidence', async (t) => {
      const store = await open(t);
      const controller = { dataset: 'BCL', family: 'Mirai', port: 443 } as const;
      await store.applyListings([
        listed('192.0.2.1', { ...controller, details: '{"cc":"new"}', ts: T + DAY }),
        listed('192.0.2.1', { ...controller, details: '{"cc":"old"}' }),
        listed('192.0.2.1', { ...controller, port: 80 }),
        listed('192.0.2.1', { ...controller, family: 'mirai' }),
        listed('192.0.2.1', { ...controller, source: 'other' }),
      ]);
      assert.deepEqual(await find(store, '192.0.2.1'), [
        '192.0.2.1 BCL feed 0…0 Mirai 80',
        '192.0.2.1 BCL feed 0…0 mirai 443',
        '192.0.2.1 BCL feed 0…1 Mirai 443 {"cc":"new"}',
        '192.0.2.1 BCL other 0…0 Mirai 443',
      ]);
    });

    test('are the same in any order of arrival and in any batches, and again changes nothing', async (t) => {
      const store = await open(t);
      const piece = fc.record({
        cidr: fc.constantFrom('198.51.100.0/24', '198.51.100.7', '2001:db8::/48'),
        dataset: fc.constantFrom<AddressDataset>('XBL', 'DROP'),
        day: fc.nat(40),
        days: fc.nat(5),
        details: fc.constantFrom('', '{"cc":"NL"}', '{"cc":"US"}'),
      });
      let run = 0;
      const property = fc.asyncProperty(
        fc.array(piece, { maxLength: 12 }),
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 1, max: 5 }),
        async (pieces, order, size) => {
          // Sources keep the runs apart: a new database for each would take long.
          const [given, shuffled] = [`given ${++run}`, `shuffled ${run}`];
          const evidence = (source: string) =>
            pieces.map(({ cidr, day, days, ...rest }) =>
              listed(cidr, { ...rest, source, listedTs: T + day * DAY, ts: T + (day + days) * DAY }),
            );
          await store.applyListings(evidence(given));
          const other = evidence(shuffled)
            .map((one) => ({ one, place: order.next().value as number }))
            .sort((a, b) => a.place - b.place)
            .map(({ one }) => one);
          for (let at = 0; at < other.length; at += size) await store.applyListings(other.slice(at, at + size));
          assert.deepEqual(await ofSource(store, shuffled), await ofSource(store, given));
          assert.equal(await store.applyListings(evidence(shuffled)), 0);
        },
      );
      await fc.assert(property, { numRuns: 20 });
    });

    test('an old and a new version of a list in any order are the same listings', async (t) => {
      const store = await open(t);
      const older = ['192.0.2.0/24', '198.51.100.0/24'];
      const newer = ['198.51.100.0/24', '203.0.113.0/24'];
      const versions = (source: string) => [
        older.map((cidr) => listed(cidr, { source })),
        newer.map((cidr) => listed(cidr, { source, ts: T + 2 * DAY })),
      ];
      for (const list of versions('a')) await store.applyListings(list);
      for (const list of versions('b').reverse()) await store.applyListings(list);
      const expected = ['192.0.2.0/24 0…0', '198.51.100.0/24 0…2', '203.0.113.0/24 2…2'];
      for (const source of ['a', 'b']) {
        assert.deepEqual(
          (await ofSource(store, source)).map((text) => text.replace(` DROP ${source}`, '')),
          expected,
        );
      }
    });

    test('a list that is fetched every hour for a week keeps one episode per network', async (t) => {
      const store = await open(t);
      const networks = ['192.0.2.0/24', '198.51.100.0/25', '203.0.113.9', '2001:db8::/32'];
      for (let hour = 0; hour <= 7 * 24; hour++) {
        const changed = await store.applyListings(networks.map((cidr) => listed(cidr, { ts: T + hour * 3600 })));
        assert.equal(changed, networks.length);
      }
      for (const cidr of networks) assert.deepEqual(await find(store, cidr), [`${cidr} DROP feed 0…7`]);
    });

    test('concurrent batches lose no episode', async (t) => {
      const store = await open(t);
      const batch = (day: number) =>
        Array.from({ length: 50 }, (_, i) => listed(`192.0.2.${i}`, { ts: T + day * DAY })).concat(
          Array.from({ length: 50 }, (_, i) =>
            listed(`198.51.100.${i}/31`, { ts: T + day * DAY, source: `feed ${day}` }),
          ),
        );
      // Two days lie between neighbours, so all of them are one episode.
      await Promise.all([8, 2, 6, 0, 4].map((day) => store.applyListings(batch(day))));
      const found = await find(store, '192.0.2.0/24');
      assert.equal(found.length, 50);
      for (const text of found) assert.match(text, / DROP feed 0…8$/);
      assert.equal((await find(store, '198.51.100.0/24')).length, 5 * 25);
    });
  });

  suite('networks', () => {
    const LISTED = ['192.0.2.0/24', '192.0.2.0/25', '192.0.2.0', '192.0.2.5', '192.0.2.128/25', '192.0.0.0/16'];

    for (const [query, inside, covering] of [
      ['192.0.2.5', ['192.0.2.5'], ['192.0.0.0/16', '192.0.2.0/24', '192.0.2.0/25', '192.0.2.5']],
      ['192.0.2.0', ['192.0.2.0'], ['192.0.0.0/16', '192.0.2.0', '192.0.2.0/24', '192.0.2.0/25']],
      ['192.0.2.129', [], ['192.0.0.0/16', '192.0.2.0/24', '192.0.2.128/25']],
      [
        '192.0.2.0/24',
        ['192.0.2.0', '192.0.2.0/24', '192.0.2.0/25', '192.0.2.128/25', '192.0.2.5'],
        ['192.0.0.0/16', '192.0.2.0/24'],
      ],
      ['192.0.2.0/25', ['192.0.2.0', '192.0.2.0/25', '192.0.2.5'], ['192.0.0.0/16', '192.0.2.0/24', '192.0.2.0/25']],
      ['192.0.3.0/24', [], ['192.0.0.0/16']],
      ['192.1.2.0/24', [], []],
      ['::ffff:192.0.2.5', ['192.0.2.5'], ['192.0.0.0/16', '192.0.2.0/24', '192.0.2.0/25', '192.0.2.5']],
    ] as const) {
      test(`inside and around ${query}`, async (t) => {
        const store = await open(t);
        await store.applyListings(LISTED.map((cidr) => listed(cidr)));
        const networks = async (given: { inside: boolean; covering: boolean }) =>
          (await find(store, query, given)).map((text) => text.split(' ')[0]);
        assert.deepEqual(await networks({ inside: true, covering: false }), inside);
        assert.deepEqual(await networks({ inside: false, covering: true }), covering);
        const both = [...new Set([...inside, ...covering])].map((cidr) => `${cidr} DROP feed 0…0`).sort();
        assert.deepEqual(await find(store, query), both);
      });
    }

    test('of every length around an address', async (t) => {
      const store = await open(t);
      const ipv4 = Array.from({ length: 25 }, (_, i) => listed(`203.0.113.77/${8 + i}`));
      const ipv6 = Array.from({ length: 113 }, (_, i) => listed(`2001:db8:1:2:3:4:5:6/${16 + i}`));
      await store.applyListings([...ipv4, ...ipv6]);
      assert.equal((await find(store, '203.0.113.77')).length, 25);
      assert.equal((await find(store, '203.0.113.0/24', { inside: false })).length, 17);
      assert.equal((await find(store, '2001:db8:1:2:3:4:5:6')).length, 113);
      assert.equal((await find(store, '2001:db8:1:2::/64')).length, 113);
      assert.equal((await find(store, '2001:db8:1:2::/64', { inside: false })).length, 49);
      assert.equal((await find(store, '2001:db8:1:3::/64')).length, 48);
    });

    test('a network that is listed later is found around an address that was looked up before', async (t) => {
      const store = await open(t);
      for (const [count, prefix] of [30, 24, 20, 16, 12, 8].entries()) {
        assert.equal((await find(store, '203.0.113.77')).length, count);
        await store.applyListings([listed(`203.0.113.77/${prefix}`)]);
        assert.equal((await find(store, '203.0.113.77')).length, count + 1);
        assert.equal((await find(store, '203.0.113.99')).length, prefix === 30 ? 0 : count);
      }
    });

    test('an IPv6 network matches no IPv4 address', async (t) => {
      const store = await open(t);
      await store.applyListings([listed('192.0.2.1'), listed('::1'), listed('::1:0:0:1'), listed('::/56')]);
      assert.deepEqual(await find(store, '::/56'), [
        '::/56 DROP feed 0…0',
        '::1 DROP feed 0…0',
        '::1:0:0:1 DROP feed 0…0',
      ]);
      assert.deepEqual(await find(store, '192.0.2.1'), ['192.0.2.1 DROP feed 0…0']);
    });

    test('of the asked datasets, and not seen before the asked time', async (t) => {
      const store = await open(t);
      await store.applyListings([
        listed('192.0.2.1', { dataset: 'CSS' }),
        listed('192.0.2.1', { dataset: 'BCL', ts: T + DAY }),
        listed('192.0.2.0/24', { ts: T + 2 * DAY }),
      ]);
      const asked: [query: Parameters<typeof find>[2], count: number][] = [
        [{ datasets: ['CSS', 'DROP'] }, 2],
        [{ seenSinceTs: T + DAY }, 2],
        [{ seenSinceTs: T + 2 * DAY }, 1],
        [{ datasets: ['XBL'] }, 0],
        [{ covering: false }, 2],
        [{}, 3],
      ];
      const counts = asked.map(([, count]) => count);
      const count = async (query: (typeof asked)[number][0]) => (await find(store, '192.0.2.1', query)).length;
      assert.deepEqual(await Promise.all(asked.map(([query]) => count(query))), counts);
      for (const [query, expected] of asked) assert.equal(await count(query), expected);
    });

    test('with more listings than a page', async (t) => {
      const store = await open(t);
      const ports = Array.from({ length: 1_203 }, (_, port) =>
        listed(`192.0.2.${port % 4}`, { dataset: 'BCL', port, family: 'Mirai' }),
      );
      await store.applyListings(ports);
      assert.equal((await find(store, '192.0.2.0/24')).length, 1_203);
    });
  });

  suite('listings that follow from URLs', () => {
    test('online runs of all URLs at an address are one listing unless a week lies between them', async (t) => {
      const store = await open(t);
      await apply(store, [
        { ts: T, url: 'http://192.0.2.1/a' },
        { ts: T + 6 * DAY, url: 'http://192.0.2.1/a' },
        { ts: T + 13 * DAY, url: 'http://192.0.2.1:8080/b' },
        { ts: T + 14 * DAY, url: 'http://192.0.2.1:8080/b', status: 'offline' },
        { ts: T + 16 * DAY, url: 'http://192.0.2.1:8080/b', status: 'offline' },
        { ts: T + 21 * DAY, url: 'http://[::ffff:192.0.2.1]/c' },
        { ts: T + 30 * DAY, url: 'http://192.0.2.2/', status: 'offline' },
        { ts: T, url: 'http://name.example/', ip: '192.0.2.3' },
      ]);
      const expected = ['192.0.2.1 XBL URL data 0…13', '192.0.2.1 XBL URL data 21…21'];
      assert.deepEqual(await find(store, '192.0.2.1'), expected);
      assert.deepEqual(await find(store, '192.0.2.0/24'), expected);
      assert.deepEqual(await find(store, '192.0.2.1', { inside: false }), expected);
      assert.deepEqual(await find(store, '192.0.2.0/24', { inside: false }), []);
      assert.deepEqual(await find(store, '192.0.2.1', { seenSinceTs: T + 14 * DAY }), expected.slice(1));
      assert.deepEqual(await find(store, '192.0.2.1', { datasets: ['BCL'] }), []);
    });

    test('have the newest family of all payloads at the address', async (t) => {
      const store = await open(t);
      const served = (url: string, ts: number, digit: string, family?: string) => ({
        ts,
        url,
        payload: { sha256: digit.repeat(64), ...(family !== undefined && { family }) },
      });
      await apply(store, [
        served('http://[2001:db8::1]/a', T, 'a', 'Old'),
        served('http://[2001:db8::1]/b', T + DAY, 'b', 'Newest'),
        served('http://[2001:db8::1]/b', T + 2 * DAY, 'c'),
        { ts: T + 3 * DAY, url: 'http://[2001:db8::1]/c' },
      ]);
      assert.deepEqual(await find(store, '2001:db8::/64'), ['2001:db8::1 XBL URL data 0…3 Newest']);
    });

    test('of addresses with thousands of URLs, one of them under two names', async (t) => {
      const store = await open(t);
      const count = 2_100; // on each engine more than two pages
      const at = (name: string, firstTs: number) =>
        Array.from({ length: count }, (_, i) => ({ ts: firstTs + i * 60, url: `http://${name}/${i}` }));
      const family = (url: string, ts: number, name: string) => ({ ts, url, payload: { family: name } });
      await apply(store, [
        ...at('192.0.2.1', T),
        ...at('192.0.2.2', T + 30 * DAY),
        ...at('[::ffff:192.0.2.2]', T),
        family('http://192.0.2.1/7', T + DAY, 'Newest'), // of an old URL
        family('http://192.0.2.1/2000', T, 'Old'),
      ]);
      const days = ((count - 1) * 60) / DAY;
      const first = `192.0.2.1 XBL URL data 0…${days} Newest`;
      const second = [`192.0.2.2 XBL URL data 0…${days}`, `192.0.2.2 XBL URL data 30…${30 + days}`];
      assert.deepEqual(await find(store, '192.0.2.0/24'), [first, ...second]);
      assert.deepEqual(await find(store, '192.0.2.1'), [first]);
      assert.deepEqual(await find(store, '192.0.2.2', { seenSinceTs: T + 2 * DAY }), second.slice(1));
    });

    test('a query that is aborted reads no further page', async (t) => {
      const store = await open(t);
      await apply(
        store,
        Array.from({ length: 2_100 }, (_, i) => ({ ts: T + i * 60, url: `http://192.0.2.1/${i}` })),
      );
      const stop = new AbortController();
      const found = find(store, '192.0.2.0/24', { signal: stop.signal });
      stop.abort(new Error('too late'));
      await assert.rejects(found, /too late/);
    });
  });

  suite('export of listings', () => {
    test('an empty store has the same listings after applying it', async (t) => {
      const [store, copy] = [await open(t), await open(t)];
      await apply(store, [{ ts: T, url: 'http://192.0.2.99/' }]);
      const evidence = [
        listed('203.0.113.0/24', { source: 'z', ts: T + 9 * DAY, listedTs: T + 2 * DAY, details: '{"cc":"NL"}' }),
        listed('203.0.113.0/24', { source: 'a' }),
        listed('2001:db8::/32'),
        ...Array.from({ length: 1_100 }, (_, i) =>
          listed(`192.0.2.${i % 3}`, { dataset: 'BCL', family: i % 2 === 0 ? 'Zeus' : 'Agent', port: i % 550 }),
        ),
      ];
      // In the copy, sources and families arrive in another order and have other ids.
      for (const one of evidence.slice(0, 4)) await store.applyListings([one]);
      await store.applyListings(evidence);
      const exported = await exportOf(store);
      await copy.applyListings(exported);
      assert.deepEqual(await exportOf(copy), exported);
      assert.equal(exported.length, evidence.length);
    });
  });
}

async function exportOf(store: Intelligence): Promise<ListingEvidence[]> {
  const evidence: ListingEvidence[] = [];
  for await (const page of store.exportListings()) {
    assert.ok(page.length > 0, 'a stream yields no empty page');
    evidence.push(...page.map((one) => ({ ...one, network: { ...one.network, ip: new Uint8Array(one.network.ip) } })));
  }
  return evidence;
}

/** All listings of a source, without its name. */
async function ofSource(store: Intelligence, source: string): Promise<string[]> {
  const networks = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/48'];
  const found = await Promise.all(networks.map((cidr) => find(store, cidr)));
  return found
    .flat()
    .filter((text) => text.includes(` ${source} `))
    .map((text) => (source.includes(' ') ? text.replace(source, '') : text));
}

async function apply(store: Intelligence, inputs: readonly ObservationInput[]): Promise<void> {
  const observations = inputs.map((input) => {
    const parsed = toObservation(input);
    assert.ok(parsed.ok, parsed.ok ? '' : parsed.reason);
    return parsed.observation;
  });
  await store.apply(observations);
}
