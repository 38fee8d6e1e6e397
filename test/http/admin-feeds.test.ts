import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { NO_COUNTS } from '../../src/ingest/store.ts';
import { asAdmin, BY_ADMIN } from './as-admin.ts';
import { assertError, NOW } from './build.ts';

const KEY = 'a-secret-key';
const OWN = {
  name: 'own',
  format: 'url-list',
  url: 'https://mirror.example/list',
  headers: { 'X-Key': KEY },
  complete: true,
};

describe('feeds of administrators', () => {
  test('a well-known feed is added by its name, and another one with its values; headers are never shown', async (t) => {
    const { get, post, control, audited } = await asAdmin(t);
    const known = (await get('/feeds/known')).json().items;
    const { name, format, needs_key, added } = known[0];
    assert.deepEqual(
      { name, format, needs_key, added },
      { name: 'urlhaus', format: 'urlhaus-csv', needs_key: false, added: false },
    );
    const first = await post('/feeds', { known: 'urlhaus' });
    assert.equal(first.statusCode, 200, first.body);
    assert.equal(first.headers['cache-control'], 'no-store');
    assert.equal(first.json().interval_seconds, 300);
    const own = await post('/feeds', { ...OWN, url: 'https://mirror.example/list.txt?token=hidden' });
    assert.equal(own.statusCode, 200, own.body);
    const list = await get('/feeds');
    assert.deepEqual(
      list.json().items.map((feed: { name: string; state: string; url: string }) => [feed.name, feed.state, feed.url]),
      [
        ['own', 'new', 'https://mirror.example/list.txt?…'],
        ['urlhaus', 'new', 'https://urlhaus.abuse.ch/downloads/csv_online/'],
      ],
    );
    for (const { body } of [first, own, list]) assert.doesNotMatch(body, /a-secret-key|hidden|X-Key/);
    assert.deepEqual((await control.feed('own'))?.headers, { 'X-Key': KEY });
    assert.equal((await get('/feeds/known')).json().items[0].added, true);
    assert.deepEqual(await audited(), [`${BY_ADMIN} feed.add urlhaus`, `${BY_ADMIN} feed.add own`]);
  });

  test('what the command refuses is refused', async (t) => {
    const { post, control } = await asAdmin(t);
    const refused: [feed: object, message: RegExp][] = [
      [{}, /^"name" must be 1 to 64/],
      [{ known: 'nothing' }, /^There is no well-known feed "nothing"/],
      [{ name: 'own' }, /^There is no well-known feed "own": give "format" and "url"/],
      [{ ...OWN, name: 'operator' }, /Urlwarden uses this name itself/],
      [{ ...OWN, name: 'known' }, /Urlwarden uses this name itself/],
      [{ ...OWN, format: 'nothing' }, /^"format" must be one of /],
      [{ ...OWN, format: 'ip-list' }, /^The format ip-list needs exactly one of "dataset"/],
      [{ ...OWN, dataset: 'XBL' }, /^"dataset" has no meaning/],
      [{ ...OWN, url: 'http://127.0.0.1/list' }, /^127\.0\.0\.1 is a blocked address \(loopback\)/],
      [{ ...OWN, url: 'http://10.0.0.1/list', private: true }, /^10\.0\.0\.1 is a blocked address \(private\)/],
      [{ ...OWN, url: 'ftp://mirror.example/list' }, /is not an http or https URL/],
      [{ ...OWN, url: 'https://mirror.example/', headers: { Host: 'x' } }, /Host is set by Urlwarden/],
      [{ ...OWN, url: 'https://mirror.example/', headers: { 'X-Key': 'a\nb' } }, /without special characters/],
      [{ ...OWN, interval_seconds: 59 }, /^"interval_seconds"/],
    ];
    for (const [feed, message] of refused) assertError(await post('/feeds', feed), 400, message);
    assert.deepEqual(await control.feeds(), []);
  });

  test('of two feeds of one name that are added at the same time, one is refused', async (t) => {
    const { post, control, audited } = await asAdmin(t);
    const urls = ['https://mirror.example/1', 'https://mirror.example/2'];
    const responses = await Promise.all(urls.map((url) => post('/feeds', { ...OWN, url })));
    assert.deepEqual(responses.map(({ statusCode }) => statusCode).toSorted(), [200, 400]);
    const kept = responses.findIndex(({ statusCode }) => statusCode === 200);
    assertError(responses[1 - kept] ?? assert.fail(), 400, /^There is already a feed own/);
    assert.equal((await control.feed('own'))?.url, urls[kept]);
    assert.deepEqual(await audited(), [`${BY_ADMIN} feed.add own`]);
  });

  test('a private address needs the setting', async (t) => {
    const world = await asAdmin(t, {}, { feedsAllowPrivate: ['10.0.0.0/8'] });
    const feed = { ...OWN, url: 'http://10.0.0.1/list' };
    assertError(await world.post('/feeds', feed), 400, /add it as a private feed/);
    assert.equal((await world.post('/feeds', { ...feed, private: true })).statusCode, 200);
  });

  test('a feed is changed, paused, resumed, run and removed', async (t) => {
    let woken = 0;
    const wakeFeeds = () => {
      woken += 1;
    };
    const { get, post, control, audited } = await asAdmin(t, {}, { wakeFeeds });
    await post('/feeds', { known: 'urlhaus' });
    await control.changeFeed('urlhaus', { lastRunTs: NOW, lastSuccessTs: NOW, nextRunTs: NOW + 300, rows: 7 });
    const changed = (await post('/feeds/urlhaus', { interval_seconds: 600 })).json();
    assert.deepEqual([changed.interval_seconds, changed.next_run_ts], [600, NOW + 600]);
    assert.equal((await post('/feeds/urlhaus', { paused: true })).json().state, 'paused');
    assertError(await post('/feeds/urlhaus/run', {}), 400, /is paused/);
    assert.equal((await post('/feeds/urlhaus', { paused: false })).json().next_run_ts, NOW);
    await control.changeFeed('urlhaus', { nextRunTs: NOW + 600 });
    assert.equal(woken, 4);
    assert.equal((await post('/feeds/urlhaus/run', {})).json().next_run_ts, NOW);
    assert.equal(woken, 5);
    await control.leaseFeed('urlhaus', 'another node', { nowTs: NOW, untilTs: NOW + 60 });
    assert.equal((await get('/feeds')).json().items[0].running, true);
    assertError(await post('/feeds/urlhaus', { complete: false }), 400, /is being fetched now/);
    assert.equal((await post('/feeds/urlhaus/remove', {})).json().name, 'urlhaus');
    for (const path of ['/feeds/urlhaus', '/feeds/urlhaus/run', '/feeds/urlhaus/remove']) {
      assertError(await post(path, {}), 404, /There is no feed "urlhaus"/);
    }
    const actions = ['add', 'set', 'pause', 'resume', 'remove'];
    assert.deepEqual(
      await audited(),
      actions.map((action) => `${BY_ADMIN} feed.${action} urlhaus`),
    );
  });

  test('a feed that somebody else removes meanwhile is not found, and nothing is recorded', async (t) => {
    const { post, control, audited } = await asAdmin(t);
    const { changeFeed, removeFeed } = control;
    control.changeFeed = async (name, change) => (await removeFeed(name)) && changeFeed(name, change);
    control.removeFeed = async (name) => (await removeFeed(name)) && removeFeed(name);
    for (const [path, body] of [
      ['/feeds/urlhaus', { interval_seconds: 600 }],
      ['/feeds/urlhaus', { paused: true }],
      ['/feeds/urlhaus/run', {}],
      ['/feeds/urlhaus/remove', {}],
    ] as const) {
      await post('/feeds', { known: 'urlhaus' });
      assertError(await post(path, body), 404, /There is no feed "urlhaus"/);
    }
    assert.deepEqual(await audited(), Array(4).fill(`${BY_ADMIN} feed.add urlhaus`));
  });

  test('a change that is made is answered, and one that cannot be answered is not made', async (t) => {
    const { post, control } = await asAdmin(t);
    await post('/feeds', { known: 'urlhaus' });
    const away = () => Promise.reject(new AppError('unavailable', 'away'));
    control.releaseFeed = away;
    assert.equal((await post('/feeds/urlhaus', { interval_seconds: 600 })).json().interval_seconds, 600);
    control.imports = away;
    assertError(await post('/feeds/urlhaus/remove', {}), 503);
    assert.ok(await control.feed('urlhaus'));
  });

  test('headers are not sent to another host', async (t) => {
    const { post, control } = await asAdmin(t);
    await post('/feeds', { ...OWN, url: 'https://mirror.example/list' });
    const url = 'https://other.example/list';
    assertError(await post('/feeds/own', { url }), 400, /to which the value of X-Key would be sent.*"no_headers"/);
    assert.equal((await post('/feeds/own', { url, no_headers: true })).statusCode, 200);
    assert.deepEqual((await control.feed('own'))?.headers, {});
  });

  test('the newest runs are shown, the oldest first', async (t) => {
    const { get, post, control } = await asAdmin(t);
    await post('/feeds', { known: 'urlhaus' });
    for (let i = 0; i < 16; i++) {
      const start = { format: 'urlhaus-csv', feed: 'urlhaus', source: 'x', startedTs: NOW + i };
      const id = await control.importStarted(start);
      const counts = { ...NO_COUNTS, read: i, urlsAdded: 2, eventsChanged: 3 };
      if (i < 15) await control.importFinished(id, { finishedTs: NOW + i, outcome: 'done', counts, error: null });
    }
    const { runs } = (await get('/feeds')).json().items[0];
    assert.equal(runs.length, 14);
    const { id: _, ...first } = runs[0];
    const counted = { read: 2, added: 2, changed: 3, rejected: 0 };
    assert.deepEqual(first, { started_ts: NOW + 2, finished_ts: NOW + 2, outcome: 'done', ...counted });
    assert.equal(runs[13].outcome, 'running');
  });

  test('customers are refused', async (t) => {
    const { asCustomer } = await asAdmin(t);
    assertError(await asCustomer('GET', '/feeds'), 403, /administrator/);
    assertError(await asCustomer('POST', '/feeds'), 403);
    assertError(await asCustomer('POST', '/feeds/urlhaus/run'), 403);
  });
});
