import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Intelligence } from '../../../src/app/stores.ts';
import type { ObservationInput } from '../../../src/core/observation.ts';
import type { Listing } from '../../../src/urls/store.ts';
import { historyOf, lastOf, newestEventOf } from '../answers.ts';
import { impliedByListings, type NamedUrls } from './implied.ts';
import type { OpenStore } from './index.ts';
import { find, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;
const URL = 'http://a.example/';

export function listingsSuite(open: OpenStore): void {
  suite('listings', () => {
    test('what a feed no longer lists is offline at the first listing that misses it', async (t) => {
      const store = await open(t);
      await list(store, 'feed', T, ['a', 'b']);
      await list(store, 'feed', T + 10, ['b']);
      await list(store, 'feed', T + 20, ['b']);
      assert.deepEqual(await events(store, 'http://a.example/'), [`added@${T - 1} rita`, `offline@${T + 10} feed`]);
      assert.deepEqual(await events(store, 'http://b.example/'), [`added@${T - 1} rita`]);
    });

    test('a listing is told what it would do, and does it once', async (t) => {
      const store = await open(t);
      await list(store, 'feed', T, ['a', 'b', 'c']);
      await name(store, 'feed', T + 10, ['b']);
      assert.deepEqual(await store.listingEffect({ feed: 'feed', ts: T + 10 }), { online: 3, goingOffline: 2 });
      assert.deepEqual(await store.finishListing({ feed: 'feed', ts: T + 10 }), { wentOffline: 2 });
      assert.deepEqual(await store.finishListing({ feed: 'feed', ts: T + 10 }), { wentOffline: 0 });
      assert.deepEqual(await store.listingEffect({ feed: 'feed', ts: T + 10 }), { online: 1, goingOffline: 0 });
      assert.deepEqual(await store.listingEffect({ feed: 'other', ts: T }), { online: 0, goingOffline: 0 });
    });

    test('nothing goes offline before the listing is finished', async (t) => {
      const store = await open(t);
      await list(store, 'feed', T, ['a', 'b']);
      await name(store, 'feed', T + 10, ['b']);
      assert.deepEqual(await events(store, URL), [`added@${T - 1} rita`]);
    });

    test('a listing that comes late moves the time, one that comes last and names the URL takes it back', async (t) => {
      const store = await open(t);
      await list(store, 'feed', T, ['a']);
      await list(store, 'feed', T + 30, ['b']);
      assert.deepEqual((await events(store, URL)).at(-1), `offline@${T + 30} feed`);
      await list(store, 'feed', T + 10, ['b']);
      assert.deepEqual(await events(store, URL), [`added@${T - 1} rita`, `offline@${T + 10} feed`]);
      await list(store, 'feed', T + 20, ['a']);
      assert.deepEqual((await events(store, URL)).at(-1), `offline@${T + 30} feed`);
      await list(store, 'feed', T + 40, ['a'], T - 1);
      assert.deepEqual(await events(store, URL), [`added@${T - 1} rita`]);
    });

    test('a URL that was seen again keeps the time in which no feed listed it', async (t) => {
      const store = await open(t);
      await list(store, 'feed', T, ['a']);
      await list(store, 'feed', T + 10, ['b']);
      await list(store, 'feed', T + 20, ['a'], T + 15);
      const expected = [`added@${T - 1} rita`, `offline@${T + 10} feed`, `online@${T + 15} rita`];
      assert.deepEqual(await events(store, URL), expected);
    });

    test('a URL stays online while another feed lists it, and goes when the last one drops it', async (t) => {
      const store = await open(t);
      await list(store, 'one', T, ['a']);
      await list(store, 'two', T + 5, ['a']);
      assert.deepEqual(await store.listingEffect({ feed: 'one', ts: T + 10 }), { online: 1, goingOffline: 0 });
      await list(store, 'one', T + 10, ['b']);
      assert.deepEqual(await events(store, URL), [`added@${T - 1} rita`]);
      await list(store, 'two', T + 20, ['b']);
      assert.deepEqual(await events(store, URL), [`added@${T - 1} rita`, `offline@${T + 20} two`]);
      await list(store, 'three', T + 30, ['a'], T - 1);
      assert.deepEqual(await events(store, URL), [`added@${T - 1} rita`]);
    });

    test('facts without a status are named, too', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: T, url: URL, status: null })], { feed: 'feed', ts: T });
      await list(store, 'feed', T + 10, ['b']);
      assert.deepEqual(await events(store, URL), [`added@${T + 10} feed`, `offline@${T + 10} feed`]);
      await list(store, 'feed', T + 20, []);
      await store.apply([seen({ ts: T, url: URL, status: null })], { feed: 'feed', ts: T + 20 });
      assert.equal((await lastOf(store, URL))?.status, null);
    });

    test('a URL that was removed stays so, and is added when it is back', async (t) => {
      const store = await open(t);
      await list(store, 'feed', T, ['a']);
      await store.apply([seen({ ts: T + 10, url: URL, status: 'removed', reporter: 'rita' })]);
      await list(store, 'feed', T + 20, ['b']);
      await store.apply([seen({ ts: T + 30, url: URL, status: 'offline' })]);
      const removed = [`added@${T - 1} rita`, `removed@${T + 10} rita`];
      assert.deepEqual(await events(store, URL), removed);
      await store.apply([seen({ ts: T + 40, url: URL, reporter: 'rita' })]);
      assert.deepEqual(await events(store, URL), [...removed, `added@${T + 40} rita`]);
    });

    test('a URL at an address has a resolution when it goes, in the network of the one before', async (t) => {
      const store = await open(t);
      const url = 'http://192.0.2.1/';
      const day = 86_400;
      await store.apply([seen({ ts: T, url, asn: 64500 })], { feed: 'feed', ts: T });
      await store.finishListing({ feed: 'feed', ts: T + day });
      assert.deepEqual(await find(store, 'asn', 64500), [`${T} ${url}`, `${T + day} ${url}`]);
    });

    test('the effect of a listing leaves out what stays online or is offline already', async (t) => {
      const store = await open(t);
      const of = (name: string) => `http://${name}.example/`;
      await list(store, 'feed', T, ['named', 'gone', 'seen', 'other', 'both', 'late', 'removed']);
      await store.apply([seen({ ts: T, url: of('fact'), status: null })], { feed: 'feed', ts: T });
      await list(store, 'two', T, ['other', 'both', 'late']);
      await list(store, 'two', T + 5, ['other', 'late']);
      await list(store, 'two', T + 20, ['other']);
      await store.apply([
        seen({ ts: T + 11, url: of('seen') }),
        seen({ ts: T + 11, url: of('late') }),
        seen({ ts: T + 1, url: of('removed'), status: 'removed' }),
      ]);
      await name(store, 'feed', T + 10, ['named']);
      assert.deepEqual(await store.listingEffect({ feed: 'feed', ts: T + 10 }), { online: 6, goingOffline: 3 });
      assert.deepEqual(await store.finishListing({ feed: 'feed', ts: T + 10 }), { wentOffline: 3 });
      const offline = ['gone', 'both', 'late'];
      for (const one of ['named', 'gone', 'seen', 'other', 'both', 'late']) {
        assert.equal((await lastOf(store, of(one)))?.status?.status, offline.includes(one) ? 'offline' : 'online', one);
      }
    });

    test('thousands go at once', async (t) => {
      const store = await open(t);
      const names = Array.from({ length: 4_500 }, (_, i) => `u${i}`);
      await list(store, 'feed', T, names);
      await name(store, 'feed', T + 10, ['u7']);
      assert.deepEqual(await store.listingEffect({ feed: 'feed', ts: T + 10 }), { online: 4_500, goingOffline: 4_499 });
      assert.deepEqual(await store.finishListing({ feed: 'feed', ts: T + 10 }), { wentOffline: 4_499 });
      assert.equal((await newestEventOf(store, 'http://u7.example/'))?.status, 'added');
    });

    test('two feeds end in the same last statuses, in whatever order their listings come', async (t) => {
      const store = await open(t);
      let run = 0;
      await fc.assert(
        fc.asyncProperty(history, async ({ steps, order }) => {
          const world = worldOf(store, run++);
          for (const i of order) await world.take(steps[i] as Step);
          assert.deepEqual(await world.statuses(), world.expected(steps));
          for (const step of steps) await world.take(step);
          assert.deepEqual(await world.statuses(), world.expected(steps), 'all of it once more');
        }),
        { numRuns: 400 },
      );
    });
  });
}

const URLS = [0, 1, 2];
const FEEDS = ['x', 'y'];

/** A listing of a feed, with the time at which each URL that it names was seen; or a sighting that no feed made. */
type Step =
  | { feed: string; ts: number; seenTs: Record<number, number> }
  | { url: number; ts: number; status: 'online' | 'offline' };

const time = fc.integer({ min: 1, max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      feed: fc.constantFrom(...FEEDS),
      ts: time,
      seenTs: fc.dictionary(fc.constantFrom('0', '1', '2'), time, { maxKeys: 3, noNullPrototype: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      url: fc.constantFrom(...URLS),
      ts: time,
      status: fc.constantFrom('online' as const, 'offline' as const),
    }),
  },
);
const history = fc
  .uniqueArray(step, { minLength: 1, maxLength: 9, selector: (one) => ('feed' in one ? `${one.feed} ${one.ts}` : one) })
  .chain((steps) => {
    const all = steps.map((_, i) => i);
    const order = fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length });
    return fc.record({ steps: fc.constant(steps), order });
  });

/** URLs and feeds of their own in a store that many share. */
function worldOf(store: Intelligence, run: number) {
  const urlOf = (i: number | string) => `http://world${run}.example/${i}`;
  const observe = (input: Omit<ObservationInput, 'url'>, i: number | string) => seen({ ...input, url: urlOf(i) });
  return {
    async take(one: Step) {
      if (!('feed' in one)) return store.apply([observe({ ts: one.ts, status: one.status }, one.url)]);
      const listing: Listing = { feed: `${one.feed}${run}`, ts: one.ts };
      await store.apply(
        Object.entries(one.seenTs).map(([i, ts]) => observe({ ts }, i)),
        listing,
      );
      const { goingOffline } = await store.listingEffect(listing);
      assert.deepEqual(await store.finishListing(listing), { wentOffline: goingOffline });
    },

    async statuses() {
      const last = await Promise.all(URLS.map((i) => lastOf(store, urlOf(i))));
      return last.map((one) => one?.status?.status ?? null);
    },

    /** The newest of all sightings and of what the listings imply; offline comes after online at equal times. */
    expected(steps: Step[]) {
      return URLS.map((i) => {
        const sightings = steps.flatMap((one) => {
          if (!('feed' in one)) return one.url === i ? [{ ts: one.ts, status: one.status }] : [];
          const ts = one.seenTs[i];
          return ts === undefined ? [] : [{ ts, status: 'online' as const }];
        });
        const implied = impliedByListings(steps.filter((one) => 'feed' in one).map(toNamed), `${i}`);
        const all = implied === null ? sightings : [...sightings, { ts: implied, status: 'offline' as const }];
        const inOrder = all.sort((a, b) => a.ts - b.ts || (a.status < b.status ? 1 : -1));
        return inOrder.at(-1)?.status ?? null;
      });
    },
  };
}

function toNamed({ feed, ts, seenTs }: Extract<Step, { feed: string }>): NamedUrls {
  return { feed, ts, urls: Object.keys(seenTs) };
}

async function name(store: Intelligence, feed: string, ts: number, names: string[], seenTs = T - 1): Promise<void> {
  const observations = names.map((one) => seen({ ts: seenTs, url: `http://${one}.example/`, reporter: 'rita' }));
  await store.apply(observations, { feed, ts });
}

async function list(store: Intelligence, feed: string, ts: number, names: string[], seenTs?: number): Promise<void> {
  await name(store, feed, ts, names, seenTs);
  await store.finishListing({ feed, ts });
}

/** Oldest first. */
async function events(store: Intelligence, url: string): Promise<string[]> {
  const all = (await historyOf(store, url))?.events ?? [];
  return all.map(({ status, ts, reporter }) => `${status}@${ts} ${reporter}`).reverse();
}
