import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ObservationInput } from '../../src/core/observation.ts';
import { assertError, BASE, build, DAY, NOW } from './build.ts';

const SHA = 'ab'.repeat(32);
const PAYLOAD = {
  mimeType: 'text/x-shellscript',
  fileType: 'sh',
  fileExt: 'sh',
  fileSize: 1842,
  fileName: 'a.sh',
  sha256: SHA,
  family: 'Mirai',
};
const WIRE_PAYLOAD = {
  ts: NOW - 9 * DAY,
  mime_type: 'text/x-shellscript',
  file_type: 'sh',
  file_ext: 'sh',
  file_size: 1842,
  file_name: 'a.sh',
  sha256_hash: SHA,
  'malware-family': 'Mirai',
};
const BARE_PAYLOAD = {
  ts: NOW - DAY,
  mime_type: null,
  file_type: null,
  file_ext: null,
  file_size: null,
  file_name: null,
  sha256_hash: 'cd'.repeat(32),
  'malware-family': null,
};

/** What JSON escapes, what some escape needlessly, and what takes two units or four bytes. */
const ODD_TEXT = `"quoted" \\u0041 \\" 'single' </script> \u2028\u2029 é 😀`;
/** Its normal form has nothing left that JSON escapes. */
const ODD_URL = `http://odd.example/a'"\\n\u2028😀`;
const ODD_NORMAL_URL = `http://odd.example/a'%22%5Cn%E2%80%A8%F0%9F%98%80`;
const ODD_FILE = { mimeType: ODD_TEXT, fileType: ODD_TEXT, fileExt: ODD_TEXT, fileName: ODD_TEXT, family: ODD_TEXT };
const ODD_OBSERVATIONS: ObservationInput[] = [
  {
    ts: NOW - DAY,
    url: ODD_URL,
    status: 'removed',
    removal: ODD_TEXT,
    reporter: ODD_TEXT,
    payload: { ...ODD_FILE, sha256: SHA },
  },
];
const ODD_WIRE_PAYLOAD = {
  ts: NOW - DAY,
  mime_type: ODD_TEXT,
  file_type: ODD_TEXT,
  file_ext: ODD_TEXT,
  file_size: null,
  file_name: ODD_TEXT,
  sha256_hash: SHA,
  'malware-family': ODD_TEXT,
};

const OBSERVATIONS: ObservationInput[] = [
  { ts: NOW - 9 * DAY, url: 'http://a.example/a.sh', reporter: 'nick', payload: PAYLOAD },
  { ts: NOW - 8 * DAY, url: 'http://a.example/a.sh', reporter: 'anna', status: 'offline' },
  { ts: NOW - 7 * DAY, url: 'http://removed.example/', reporter: 'nick', status: 'removed', removal: 'abuse' },
  { ts: NOW - 6 * DAY, url: 'http://again.example/', status: 'offline' },
  { ts: NOW - 5 * DAY, url: 'http://again.example/', status: 'online', reporter: 'x' },
  { ts: NOW - DAY, url: 'http://facts.example/', status: null, payload: { sha256: 'cd'.repeat(32) } },
  ...Array.from({ length: 120 }, (_, i): ObservationInput => {
    const status = i % 2 === 0 ? 'online' : 'offline';
    return { ts: NOW - 200 + i, url: 'http://busy.example/', status, payload: { sha256: SHA, fileSize: i } };
  }),
];

const post = (path: string, url: unknown) => ({ method: 'POST' as const, url: `${BASE}/${path}`, payload: { url } });

describe('id, last and history', () => {
  test('return the known URL, whatever form of it is sent', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    const send = async (path: string, url: string) => (await app.inject(post(path, url))).json();
    const { id } = await send('id', 'HTTP://user@A.example:80/a.sh#top');
    assert.ok(Number.isInteger(id) && id > 0);
    assert.deepEqual(await send('id', 'http://a.example/a.sh'), { id });

    assert.deepEqual(await send('last', 'http://a.example/a.sh'), {
      id,
      url: 'http://a.example/a.sh',
      status: { ts: NOW - 8 * DAY, status: 'offline', removal: '', reporter: 'anna' },
      payload: WIRE_PAYLOAD,
    });
    assert.deepEqual(await send('history', 'http://a.example/a.sh'), {
      id,
      url: 'http://a.example/a.sh',
      events: [
        { ts: NOW - 8 * DAY, status: 'offline', removal: '', reporter: 'anna' },
        { ts: NOW - 9 * DAY, status: 'added', removal: '', reporter: 'nick' },
      ],
      payloads: [WIRE_PAYLOAD],
    });
  });

  const lastStatuses: [url: string, status: object | null][] = [
    ['http://removed.example/', { ts: NOW - 7 * DAY, status: 'offline', removal: 'abuse', reporter: 'nick' }],
    ['http://again.example/', { ts: NOW - 5 * DAY, status: 'online', removal: '', reporter: 'x' }],
    ['http://facts.example/', null],
  ];
  test('last returns the newest event as the status', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    for (const [url, status] of lastStatuses) {
      const response = await app.inject(post('last', url));
      assert.equal(response.statusCode, 200);
      assert.deepEqual(Object.keys(response.json()), ['id', 'url', 'status', 'payload']);
      assert.deepEqual(response.json().status, status);
    }
  });

  test('a missing payload is null in last and an empty list in history; unknown fields of a payload are null', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    assert.equal((await app.inject(post('last', 'http://removed.example/'))).json().payload, null);
    assert.deepEqual((await app.inject(post('history', 'http://removed.example/'))).json().payloads, []);
    assert.deepEqual((await app.inject(post('last', 'http://facts.example/'))).json().payload, BARE_PAYLOAD);
    const facts = (await app.inject(post('history', 'http://facts.example/'))).json();
    assert.deepEqual([facts.events, facts.payloads], [[], [BARE_PAYLOAD]]);
  });

  test('a history has the newest 100 events and the newest 100 payloads, newest first', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    const { events, payloads } = (await app.inject(post('history', 'http://busy.example/'))).json();
    const newest = Array.from({ length: 100 }, (_, i) => NOW - 200 + 119 - i);
    assert.deepEqual(
      events.map(({ ts }: { ts: number }) => ts),
      newest,
    );
    assert.deepEqual(
      payloads.map(({ ts }: { ts: number }) => ts),
      newest,
    );
  });

  test('a successful response is application/json without the key code', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    for (const path of ['id', 'last', 'history']) {
      const response = await app.inject(post(path, 'http://a.example/a.sh'));
      assert.match(String(response.headers['content-type']), /^application\/json/);
      assert.equal('code' in response.json(), false);
    }
  });

  test('an unknown URL gets 404, an invalid URL 400 with the reason', async (t) => {
    const { app } = await build(t);
    for (const path of ['id', 'last', 'history']) {
      assertError(await app.inject(post(path, 'http://unknown.example/')), 404);
      assertError(await app.inject(post(path, 'hxxp://a.example/')), 400, /url.*scheme/i);
      assertError(await app.inject(post(path, `http://a.example/${'x'.repeat(8192)}`)), 400, /url.*8,?192/);
      assertError(await app.inject(post(path, `http://a.example/${'é'.repeat(8000)}`)), 400, /url.*8,?192/i);
      assertError(await app.inject(post(path, 'http://\ud800.example/')), 400, /url/i);
    }
  });

  test('defanged values are refused, although commands accept them', async (t) => {
    const { app } = await build(t, { observations: OBSERVATIONS });
    for (const path of ['id', 'last', 'history']) {
      for (const url of ['hxxp://a.example/a.sh', 'http://a[.]example/a.sh', '<http://a.example/a.sh>']) {
        assertError(await app.inject(post(path, url)), 400, /url/i);
      }
    }
    for (const payload of [{ host: 'a[.]example' }, { ip: '192[.]0[.]2[.]1' }, { ip: '"192.0.2.1"' }]) {
      assertError(await app.inject({ method: 'POST', url: `${BASE}/search`, payload }), 400, /must be one/);
    }
    for (const path of ['v1/byobject/cidr/ALL/listed/live/192[.]0[.]2[.]1', 'v2/byobject/domain/a[.]example']) {
      assertError(await app.inject(`/api/intel/${path}`), 400);
    }
  });

  test('texts come out of the store as they went in, escaped once', async (t) => {
    const { app } = await build(t, { observations: ODD_OBSERVATIONS });
    const ask = async (path: string) => {
      const { body } = await app.inject(post(path, ODD_URL));
      const response = JSON.parse(body);
      assert.equal(body, JSON.stringify(response));
      return response;
    };
    const removed = { ts: NOW - DAY, status: 'removed', removal: ODD_TEXT, reporter: ODD_TEXT };
    const added = { ...removed, status: 'added', removal: '' };
    const { id } = await ask('id');
    const found = { id, url: ODD_NORMAL_URL };
    const last = { ...found, status: { ...removed, status: 'offline' }, payload: ODD_WIRE_PAYLOAD };
    assert.deepEqual(await ask('last'), last);
    assert.deepEqual(await ask('history'), { ...found, events: [removed, added], payloads: [ODD_WIRE_PAYLOAD] });
  });

  test('integers up to 2^53-1 are exact, and strings are escaped once', async (t) => {
    const url = 'http://large.example/';
    const ts = Number.MAX_SAFE_INTEGER;
    const payload = { sha256: SHA, fileSize: ts };
    const { app } = await build(t, { observations: [{ ts, url, payload }] });
    const last = (await app.inject(post('last', url))).json();
    assert.deepEqual([last.status.ts, last.payload.ts, last.payload.file_size], [ts, ts, ts]);
    const { events, payloads } = (await app.inject(post('history', url))).json();
    assert.deepEqual([events[0].ts, payloads[0].ts, payloads[0].file_size], [ts, ts, ts]);
  });
});
