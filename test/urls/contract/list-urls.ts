import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ListedUrlFilter } from '../../../src/urls/store.ts';
import type { OpenStore } from './index.ts';
import { collect, DAY, hashOf, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;

type Store = Awaited<ReturnType<OpenStore>>;

/** `path status days since the start…days since the last sighting`, sorted. */
async function found(store: Store, filter: ListedUrlFilter): Promise<string[]> {
  const urls = await collect(store.urlsForList(filter));
  const days = (ts: number) => (ts - T) / DAY;
  return urls.map((one) => `${one.url.slice(17)} ${one.status} ${days(one.sinceTs)}…${days(one.seenTs)}`).sort();
}

export function listUrlsSuite(open: OpenStore): void {
  suite('URLs for lists', () => {
    test('status and last sighting', async (t) => {
      const store = await open(t);
      const at = (path: string, day: number, status: 'online' | 'offline' | 'removed' | null) =>
        seen({ ts: T + day * DAY, url: `http://a.example/${path}`, status, ip: '192.0.2.1' });
      await store.apply([
        at('seen', 0, 'online'),
        at('seen', 5, 'online'),
        at('again', 0, 'online'),
        at('again', 1, 'offline'),
        at('again', 2, 'online'),
        at('off', 0, 'online'),
        at('off', 3, 'offline'),
        at('off', 4, 'offline'),
        at('removed', 0, 'online'),
        at('removed', 2, 'removed'),
        at('removed', 6, 'offline'),
        at('never', 1, 'offline'),
        at('unknown', 1, null),
      ]);
      const listing = { feed: 'feed', ts: T };
      await store.apply([at('gone', 0, 'online')], listing);
      await store.finishListing(listing);
      const later = { feed: 'feed', ts: T + 3 * DAY };
      await store.apply([at('stays', 3, 'online')], later);
      await store.finishListing(later);

      const online = ['again online 2…2', 'seen online 0…5', 'stays online 3…3'];
      const offline = ['gone offline 3…3', 'never offline 1…1', 'off offline 3…4', 'removed offline 2…6'];
      assert.deepEqual(await found(store, { status: 'online', seenSinceTs: 0 }), online);
      assert.deepEqual(await found(store, { status: 'offline', seenSinceTs: 0 }), offline);
      assert.deepEqual(await found(store, { status: 'any', seenSinceTs: 0 }), [...online, ...offline].sort());
      assert.deepEqual(await found(store, { status: 'online', seenSinceTs: T + 3 * DAY }), online.slice(1));
      const ofHost = { status: 'offline', seenSinceTs: T + 4 * DAY, host: 'a.example' } as const;
      assert.deepEqual(await found(store, ofHost), offline.slice(2));
      assert.deepEqual(await found(store, { ...ofHost, host: 'b.example' }), []);
    });

    test('all fields', async (t) => {
      const store = await open(t);
      const urls = ['http://[2001:db8::1]:8080/a', 'https://b.example/?q=a:b/c', 'http://192.0.2.1/'] as const;
      const payload = { sha256: hashOf('a'), family: 'Mirai' };
      await store.apply([
        seen({ ts: T, url: urls[0], status: 'online', reporter: 'r', tags: ['b', 'B', 'a'], payload }),
        seen({ ts: T + 1, url: urls[1], status: 'online', payload: { fileSize: 5 } }),
        seen({ ts: T + 2, url: urls[2], status: 'online' }),
      ] as const);
      const pages = store.urlsForList({ status: 'online', seenSinceTs: 0 });
      const entries = (await collect(pages)).sort((a, b) => a.seenTs - b.seenTs);
      const [first, second, third] = await Promise.all(urls.map((url) => store.urlId(url)));
      const nothing = { reporter: '', family: null, sha256: null, tags: [] };
      const times = (ts: number) => ({ status: 'online', sinceTs: ts, seenTs: ts });
      assert.deepEqual(entries, [
        {
          id: first,
          url: urls[0],
          host: '[2001:db8::1]',
          ...times(T),
          reporter: 'r',
          ...payload,
          tags: ['B', 'a', 'b'],
        },
        { id: second, url: urls[1], host: 'b.example', ...times(T + 1), ...nothing },
        { id: third, url: urls[2], host: '192.0.2.1', ...times(T + 2), ...nothing },
      ]);

      for (const status of ['online', 'any'] as const) {
        const brief = store.urlsForList({ status, seenSinceTs: 0, isBrief: true });
        assert.deepEqual(
          (await collect(brief)).sort((a, b) => a.seenTs - b.seenTs),
          entries.map((entry) => ({ ...entry, sha256: null, tags: [] })),
        );
      }
    });

    test('all families of the newest payloads', async (t) => {
      const store = await open(t);
      const at = (ts: number, family: string | null, sha256: string | null = null) =>
        seen({ ts, url: 'http://a.example/', status: 'online', payload: { family, sha256 } });
      await store.apply([at(T, 'Older'), at(T + 1, 'Mirai'), at(T + 1, 'Gafgyt'), at(T + 1, null, hashOf('a'))]);
      await store.apply([at(T + 1, 'Mozi'), at(T + 1, 'Mozi', hashOf('b')), at(T + 1, 'Mozi', hashOf('c'))]);
      for (const host of [undefined, 'a.example']) {
        const filter = { status: 'online', seenSinceTs: 0, ...(host !== undefined && { host }) } as const;
        const [one] = await collect(store.urlsForList(filter));
        const families = new Set([one?.family ?? [], one?.otherFamilies ?? []].flat());
        assert.deepEqual([...families].sort(), ['Gafgyt', 'Mirai', 'Mozi']);
        assert.equal(new Set(one?.otherFamilies).size, one?.otherFamilies?.length);
      }
    });
  });
}
