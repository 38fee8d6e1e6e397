import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Intelligence } from '../../../src/app/stores.ts';
import type { ObservationInput } from '../../../src/core/observation.ts';
import type { Listing } from '../../../src/urls/store.ts';
import { historyOf, lastOf, newestEventOf } from '../results.ts';
import { impliedByListings, type ListedUrls } from './implied.ts';
import type { OpenStore } from './index.ts';
import { find, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;
const URL = 'http://a.example/';

export function listingsSuite(open: OpenStore): void {
  suite('listings', () => {
    test('a URL is offline from the first listing that does not have it', async (t) => {
      const store = await open(t);
      await list(store, 'feed', T, ['a', 'b']);
      await list(store, 'feed', T + 10, ['b']);
      await list(store, 'feed', T + 20, ['b']);
      assert.deepEqual(await events(store, 'http://a.example/'), [`added@${T - 1} rita`, `offline@${T + 10} feed`]);
      assert.deepEqual(await events(store, 'http://b.example/'), [`added@${T - 1} rita`]);
    });

    test('finishing a listing has the effect that listingEffect returned, once', async (t) => {
      const store = await open(t);
      await list(store, 'feed', T, ['a', 'b', 'c']);
      await markListed(store, 'feed', T + 10, ['b']);
      assert.deepEqual(await store.listingEffect({ feed: 'feed', ts: T + 10 }), { online: 3, goingOffline: 2 });
      assert.deepEqual(await store.finishListing({ feed: 'feed', ts: T + 10 }), { wentOffline: 2 });
      assert.deepEqual(await store.finishListing({ feed: 'feed', ts: T + 10 }), { wentOffline: 0 });
      assert.deepEqual(await store.listingEffect({ feed: 'feed', ts: T + 10 }), { online: 1, goingOffline: 0 });
      assert.deepEqual(await store.listingEffect({ feed: 'other', ts: T }), { online: 0, goingOffline: 0 });
    });

    test('nothing goes offline before the listing is finished', async (t) => {
      const store = await open(t);
      await list(store, 'feed', T, ['a', 'b']);
      await markListed(store, 'feed', T + 10, ['b']);
      assert.deepEqual(await events(store, URL), [`added@${T - 1} rita`]);
    });

    test('a late listing moves the implied offline, and a newer one with the URL cancels it', async (t) => {
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

    test('a URL that is seen again keeps its earlier offline event', async (t) => {
      const store = await open(t);
      await list(store, 'feed', T, ['a']);
      await list(store, 'feed', T + 10, ['b']);
      await list(store, 'feed', T + 20, ['a'], T + 15);
      const expected = [`added@${T - 1} rita`, `offline@${T + 10} feed`, `online@${T + 15} rita`];
      assert.deepEqual(await events(store, URL), expected);
    });

    test('a URL stays online while another feed lists it, and goes offline when the last feed drops it', async (t) => {
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

    test('a URL without a status is listed, too', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: T, url: URL, status: null })], { feed: 'feed', ts: T });
      await list(store, 'feed', T + 10, ['b']);
      assert.deepEqual(await events(store, URL), [`added@${T + 10} feed`, `offline@${T + 10} feed`]);
      await list(store, 'feed', T + 20, []);
      await store.apply([seen({ ts: T, url: URL, status: null })], { feed: 'feed', ts: T + 20 });
      assert.equal((await lastOf(store, URL))?.status, null);
    });

    test('a removed URL stays removed, and is added when it is online again', async (t) => {
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

    test('an implied offline of a URL at an address adds a resolution with the network of the last one', async (t) => {
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
      await list(store, 'feed', T, ['kept', 'gone', 'seen', 'other', 'both', 'late', 'removed']);
      await store.apply([seen({ ts: T, url: of('fact'), status: null })], { feed: 'feed', ts: T });
      await list(store, 'two', T, ['other', 'both', 'late']);
      await list(store, 'two', T + 5, ['other', 'late']);
      await list(store, 'two', T + 20, ['other']);
      await store.apply([
        seen({ ts: T + 11, url: of('seen') }),
        seen({ ts: T + 11, url: of('late') }),
        seen({ ts: T + 1, url: of('removed'), status: 'removed' }),
      ]);
      await markListed(store, 'feed', T + 10, ['kept']);
      assert.deepEqual(await store.listingEffect({ feed: 'feed', ts: T + 10 }), { online: 6, goingOffline: 3 });
      assert.deepEqual(await store.finishListing({ feed: 'feed', ts: T + 10 }), { wentOffline: 3 });
      const offline = ['gone', 'both', 'late'];
      for (const one of ['kept', 'gone', 'seen', 'other', 'both', 'late']) {
        assert.equal((await lastOf(store, of(one)))?.status?.status, offline.includes(one) ? 'offline' : 'online', one);
      }
    });

    test('one listing takes thousands of URLs offline', async (t) => {
      const store = await open(t);
      const names = Array.from({ length: 4_500 }, (_, i) => `u${i}`);
      await list(store, 'feed', T, names);
      await markListed(store, 'feed', T + 10, ['u7']);
      assert.deepEqual(await store.listingEffect({ feed: 'feed', ts: T + 10 }), { online: 4_500, goingOffline: 4_499 });
      assert.deepEqual(await store.finishListing({ feed: 'feed', ts: T + 10 }), { wentOffline: 4_499 });
      assert.equal((await newestEventOf(store, 'http://u7.example/'))?.status, 'added');
    });

    test('two feeds end in the same last statuses in any order of their listings', async (t) => {
      const store = await open(t);
      let run = 0;
      await fc.assert(
        fc.asyncProperty(history, async ({ steps, order }) => {
          const world = worldOf(store, run++);
          for (const i of order) await world.apply(steps[i] as Step);
          assert.deepEqual(await world.statuses(), world.expected(steps));
          for (const step of steps) await world.apply(step);
          assert.deepEqual(await world.statuses(), world.expected(steps), 'all steps again');
        }),
        { numRuns: 150 },
      );
    });
  });
}

const URLS = [0, 1, 2];
const FEEDS = ['x', 'y'];

/** A listing of a feed, with the time at which each of its URLs was seen; or an observation without a listing. */
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

/** A set of URLs and feeds of one run; all runs share a store. */
function worldOf(store: Intelligence, run: number) {
  const urlOf = (i: number | string) => `http://world${run}.example/${i}`;
  const observe = (input: Omit<ObservationInput, 'url'>, i: number | string) => seen({ ...input, url: urlOf(i) });
  return {
    async apply(one: Step) {
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

    /** The newest of all observations and the implied offline; at equal times offline is after online. */
    expected(steps: Step[]) {
      return URLS.map((i) => {
        const sightings = steps.flatMap((one) => {
          if (!('feed' in one)) return one.url === i ? [{ ts: one.ts, status: one.status }] : [];
          const ts = one.seenTs[i];
          return ts === undefined ? [] : [{ ts, status: 'online' as const }];
        });
        const implied = impliedByListings(steps.filter((one) => 'feed' in one).map(toListedUrls), `${i}`);
        const all = implied === null ? sightings : [...sightings, { ts: implied, status: 'offline' as const }];
        const inOrder = all.sort((a, b) => a.ts - b.ts || (a.status < b.status ? 1 : -1));
        return inOrder.at(-1)?.status ?? null;
      });
    },
  };
}

function toListedUrls({ feed, ts, seenTs }: Extract<Step, { feed: string }>): ListedUrls {
  return { feed, ts, urls: Object.keys(seenTs) };
}

async function markListed(
  store: Intelligence,
  feed: string,
  ts: number,
  names: string[],
  seenTs = T - 1,
): Promise<void> {
  const observations = names.map((one) => seen({ ts: seenTs, url: `http://${one}.example/`, reporter: 'rita' }));
  await store.apply(observations, { feed, ts });
}

async function list(store: Intelligence, feed: string, ts: number, names: string[], seenTs?: number): Promise<void> {
  await markListed(store, feed, ts, names, seenTs);
  await store.finishListing({ feed, ts });
}

/** Oldest first. */
async function events(store: Intelligence, url: string): Promise<string[]> {
  const all = (await historyOf(store, url))?.events ?? [];
  return all.map(({ status, ts, reporter }) => `${status}@${ts} ${reporter}`).reverse();
}
