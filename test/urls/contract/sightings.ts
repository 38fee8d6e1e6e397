import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Observation } from '../../../src/core/observation.ts';
import type { OpenTables, Tables } from '../tables.ts';
import { DAY, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;

/** `host url ts` of sightings, without ids. */
export const SIGHTINGS = `
  select d.name, h.host, u.url, s.online_ts from url_sightings s join urls u on u.id = s.url_id
  join hosts h on h.id = s.host_id and h.id = u.host_id join domains d on d.id = s.domain_id and d.id = h.domain_id
  order by u.url`;
export const FIRST = 'select name, first_url_ts from domains order by name';
export const ADDRESSES = `
  select d.name, h.host, n.ip, n.day, n.origin, n.ts from name_addresses n join hosts h on h.id = n.host_id
  join domains d on d.id = n.domain_id and d.id = h.domain_id order by d.name, h.host, n.ip, n.day, n.origin`;

/** What domains know from URLs. Rows whose ids do not match are missing. */
export async function domainRows({ rows }: Tables) {
  const [sightings, first, addresses] = [await rows(SIGHTINGS), await rows(FIRST), await rows(ADDRESSES)];
  const [[sightingCount], [addressCount]] = [
    await rows('select count(*) from url_sightings'),
    await rows('select count(*) from name_addresses'),
  ];
  assert.deepEqual([`${sightings.length}`, `${addresses.length}`], [sightingCount, addressCount]);
  return { sightings, first, addresses };
}

/** 192.0.2.n as a key. */
const key = (n: number) => `00000000000000000000ffffc00002${n.toString(16).padStart(2, '0')}`;

/** Days since 1970. */
const dayOf = (ts: number) => Math.floor(ts / DAY);

export function sightingsSuite(open: OpenTables): void {
  suite('what domains know from URLs', () => {
    test('the newest time online, the earliest one of the domain, and an address per day', async (t) => {
      const tables = await open(t);
      await tables.store.apply([
        seen({ ts: T + 20, url: 'http://www.a.example/1', ip: '192.0.2.1' }),
        seen({ ts: T + 50, url: 'http://www.a.example/1', ip: '192.0.2.1' }),
        seen({ ts: T + 90, url: 'http://www.a.example/1', status: 'offline', ip: '192.0.2.2' }),
        seen({ ts: T + 30, url: 'http://b.a.example/2' }),
        seen({ ts: T + 40, url: 'http://b.a.example/3', status: 'offline' }),
        seen({ ts: T + 40, url: 'http://b.a.example/4', status: null, ip: '192.0.2.3' }),
      ]);
      assert.deepEqual(await domainRows(tables), {
        sightings: [
          `a.example b.a.example http://b.a.example/2 ${T + 30}`,
          `a.example www.a.example http://www.a.example/1 ${T + 50}`,
        ],
        first: [`a.example ${T + 20}`],
        addresses: [
          `a.example b.a.example ${key(3)} ${dayOf(T)} 0 ${T + 40}`,
          `a.example www.a.example ${key(1)} ${dayOf(T)} 0 ${T + 50}`,
          `a.example www.a.example ${key(2)} ${dayOf(T)} 0 ${T + 90}`,
        ],
      });
    });

    test('a confirmation moves the time, an offline, a removal or a listing does not', async (t) => {
      const tables = await open(t);
      const url = 'http://a.example/';
      const listing = { feed: 'feed', ts: T };
      await tables.store.apply([seen({ ts: T, url, ip: '192.0.2.1' })], listing);
      await tables.store.finishListing(listing);
      await tables.store.apply([seen({ ts: T + 9, url, ip: '192.0.2.1' })]);
      await tables.store.finishListing({ feed: 'feed', ts: T + 12 });
      await tables.store.apply([seen({ ts: T + 15, url, status: 'removed' })]);
      await tables.store.apply([seen({ ts: T + 3, url, status: 'offline' }), seen({ ts: T + 4, url })]);
      assert.deepEqual(await domainRows(tables), {
        sightings: [`a.example a.example ${url} ${T + 9}`],
        first: [`a.example ${T}`],
        addresses: [`a.example a.example ${key(1)} ${dayOf(T)} 0 ${T + 9}`],
      });
      await tables.store.apply([seen({ ts: T - 7, url, ip: '192.0.2.1' })]);
      assert.deepEqual(await domainRows(tables), {
        sightings: [`a.example a.example ${url} ${T + 9}`],
        first: [`a.example ${T - 7}`],
        addresses: [
          `a.example a.example ${key(1)} ${dayOf(T - 7)} 0 ${T - 7}`,
          `a.example a.example ${key(1)} ${dayOf(T)} 0 ${T + 9}`,
        ],
      });
    });

    test('a host that is an address or a public suffix leaves no row', async (t) => {
      const tables = await open(t);
      const urls = ['http://192.0.2.1/', 'http://[2001:db8::1]/', 'http://github.io/', 'http://test/'];
      await tables.store.apply(urls.map((url) => seen({ ts: T, url, ip: '192.0.2.9' })));
      assert.deepEqual(await domainRows(tables), { sightings: [], first: [], addresses: [] });
    });

    test('a domain that another process gives to a host is used by the next batch', async (t) => {
      const tables = await open(t);
      const url = 'http://a.example/';
      await tables.run(`insert into hosts (host) values ('a.example')`);
      await tables.store.apply([seen({ ts: T, url })]);
      assert.deepEqual(await tables.rows('select count(*) from url_sightings'), ['0']);
      await tables.run(`
        insert into domains (id, name) values (77, 'a.example') on conflict (name) do update set id = 77;
        update hosts set domain_id = 77`);
      await tables.store.apply([seen({ ts: T + 9, url })]);
      assert.deepEqual((await domainRows(tables)).sightings, [`a.example a.example ${url} ${T + 9}`]);
    });

    test('observations in any order and any batches leave the same rows', async (t) => {
      const tables = await open(t);
      let run = 0;
      await fc.assert(
        fc.asyncProperty(STEPS, async ({ given, order, batches }) => {
          const [sorted, shuffled] = [`s${++run}.example`, `t${run}.example`];
          const shape = (domain: string) =>
            given.map(({ host, path, ...rest }) => seen({ ...rest, url: `http://${host}.${domain}/${path}` }));
          for (const one of shape(sorted).toSorted((a, b) => a.ts - b.ts)) await tables.store.apply([one]);
          await applyInBatches(tables, inOrder(shape(shuffled), order), batches);
          const all = await domainRows(tables);
          const of = (domain: string) =>
            Object.values(all).map((lines) =>
              lines.filter((line) => line.startsWith(domain)).map((line) => line.replaceAll(domain, '')),
            );
          assert.deepEqual(of(shuffled), of(sorted));
        }),
        { numRuns: 25, seed: 13, endOnFailure: true },
      );
    });
  });
}

async function applyInBatches({ store }: Tables, observations: Observation[], batches: number): Promise<void> {
  for (let i = 0; i < observations.length; i += batches) await store.apply(observations.slice(i, i + batches));
}

const inOrder = <T>(items: readonly T[], order: readonly number[]): T[] =>
  items
    .map((item, i) => [order[i] ?? 0, item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);

const STEPS = fc.record({
  given: fc.array(
    fc.record({
      host: fc.constantFrom('a', 'b'),
      path: fc.constantFrom('1', '2'),
      ts: fc.oneof(fc.integer({ min: T, max: T + 9 }), fc.integer({ min: T, max: T + 2 * DAY })),
      status: fc.constantFrom('online' as const, 'online' as const, 'offline' as const, 'removed' as const, null),
      ip: fc.constantFrom('192.0.2.1', '192.0.2.2'),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  order: fc.array(fc.integer(), { minLength: 8, maxLength: 8 }),
  batches: fc.integer({ min: 1, max: 5 }),
});
