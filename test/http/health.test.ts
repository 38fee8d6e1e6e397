import assert from 'node:assert/strict';
import { test } from 'node:test';
import { feedHealth } from '../../src/app/feeds.ts';
import { AppError } from '../../src/core/errors.ts';
import { feedOf } from '../ingest/feeds/feed-of.ts';
import { assertError, build, NOW, stubStore } from './build.ts';

const NO_DATA = { newest_event_ts: null, confirmed_ts: null };

test('a server with a working store is up and ready', async (t) => {
  const { app } = await build(t);
  for (const url of ['/healthz', '/readyz']) {
    const response = await app.inject(url);
    assert.deepEqual([response.statusCode, response.json()], [200, { status: 'ok' }]);
  }
});

test('a server that is stopping is up but not ready, and logs no error for that', async (t) => {
  const log: string[] = [];
  const logger = { level: 'warn', stream: { write: (line: string) => log.push(line) } };
  const { app } = await build(t, { services: { isStopping: () => true }, options: { logger } });
  assertError(await app.inject('/readyz'), 503, /^The server is stopping$/);
  assert.equal((await app.inject('/healthz')).statusCode, 200);
  assert.deepEqual(log, []);
});

test('readyz with verbose lists the state of each feed, without error messages, and stays 200', async (t) => {
  const feeds = [
    feedOf({ name: 'fresh', lastSuccessTs: NOW }),
    feedOf({ name: 'old', lastSuccessTs: NOW - 901, lastError: 'inside.example responded with 403', failures: 3 }),
    feedOf({ name: 'waiting', nextRunTs: NOW }),
  ];
  const { app } = await build(t, { services: { feeds: () => feedHealth({ feeds: async () => feeds }, NOW) } });
  const states = [
    { name: 'fresh', state: 'ok', last_success_ts: NOW },
    { name: 'old', state: 'stale', last_success_ts: NOW - 901 },
    { name: 'waiting', state: 'new', last_success_ts: null },
  ];
  for (const query of ['verbose', 'verbose=1', 'verbose=true', 'verbose=&x=y']) {
    const response = await app.inject(`/readyz?${query}`);
    assert.deepEqual(
      [response.statusCode, response.json()],
      [200, { status: 'ok', integrity: 'ok', data: NO_DATA, feeds: states }],
    );
  }
  for (const query of ['', 'verbose=0', 'verbose=false', 'x']) {
    assert.deepEqual((await app.inject(`/readyz?${query}`)).json(), { status: 'ok' });
  }
  for (const query of ['verbose=x', 'verbose&verbose'])
    assertError(await app.inject(`/readyz?${query}`), 400, /verbose/);
});

test('readyz with verbose shows the time of the newest event and of the newest confirmation', async (t) => {
  const freshness = async () => ({ newestEventTs: NOW - 60, confirmedTs: NOW });
  const { app } = await build(t, { services: { freshness } });
  assert.deepEqual((await app.inject('/readyz?verbose')).json().data, { newest_event_ts: NOW - 60, confirmed_ts: NOW });
  assert.equal((await app.inject('/readyz')).json().data, undefined);
});

test('readyz with verbose shows that rows contradict each other, and stays 200', async (t) => {
  const { app } = await build(t, { services: { hasFaults: () => true } });
  const response = await app.inject('/readyz?verbose');
  assert.deepEqual(
    [response.statusCode, response.json()],
    [200, { status: 'ok', integrity: 'faults', data: NO_DATA, feeds: [] }],
  );
});

test('readyz with verbose shows where queries are counted, and is 503 when they are refused', async (t) => {
  for (const [state, status, limits] of [
    ['shared', 200, 'shared'],
    ['local', 200, 'local'],
    ['refused', 503, undefined],
  ] as const) {
    const { app } = await build(t, { services: { limitsState: () => state } });
    const response = await app.inject('/readyz?verbose');
    assert.deepEqual([response.statusCode, response.json().limits], [status, limits]);
    assert.equal((await app.inject('/readyz')).statusCode, status);
    assert.equal(response.headers['retry-after'] !== undefined, status === 503);
  }
});

test('readyz with verbose is 503 while the feeds cannot be read', async (t) => {
  const feeds = async () => {
    throw new AppError('unavailable', 'no database');
  };
  const { app } = await build(t, { services: { feeds } });
  assertError(await app.inject('/readyz?verbose'), 503);
  assert.equal((await app.inject('/readyz')).statusCode, 200);
});

const UNREADY: [error: Error, message: RegExp][] = [
  [new Error('host db.example is down'), /^The database does not answer$/],
  [new AppError('unavailable', 'host db.example is down'), /^The database does not answer$/],
  [new AppError('not_ready', 'The disk is full'), /^The disk is full$/],
];
test('a server is up but not ready while the store cannot answer; the reason names no host', async (t) => {
  for (const [error, message] of UNREADY) {
    const { app } = await build(t, { services: { store: stubStore({ ready: () => Promise.reject(error) }) } });
    const response = await app.inject('/readyz');
    assertError(response, 503, message);
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
    assert.equal((await app.inject('/healthz')).statusCode, 200);
  }
});
