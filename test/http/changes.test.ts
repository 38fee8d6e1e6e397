import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { toObservation } from '../../src/core/observation.ts';
import { paths } from '../../src/core/paths.ts';
import { admitAll, OPERATOR } from './admit-all.ts';
import { assertError, build, lines, NOW, serve, until } from './build.ts';
import { open } from './transport.ts';

const url = (n: number) => `http://host${n}.example/`;
const observed = (n: number) => ({ ts: NOW, url: url(n), status: 'online' as const });

type Line = { seq: number; kind: string; key: string; op: string };

/** Events as `id key`. A write of the server is one chunk, so no event is split. */
function openEvents(t: TestContext, port: number, path: string, lastId?: string) {
  const socket = open(port);
  t.after(() => socket.destroy());
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  socket.on('error', () => {});
  const last = lastId === undefined ? '' : `Last-Event-ID: ${lastId}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n${last}\r\n`);
  return {
    text: () => text,
    events: () =>
      [...text.matchAll(/id: (\d+)\ndata: (.*)\n/g)].map(([, id, data]) => `${id} ${JSON.parse(data ?? '').key}`),
    close: () => socket.destroy(),
  };
}

test('changes: NDJSON from a cursor to the newest entry, and the newest number in a header', async (t) => {
  const { app } = await build(t, { observations: [observed(1), observed(2)] });
  const response = await app.inject(paths.changes);
  assert.equal(response.statusCode, 200);
  assert.match(String(response.headers['content-type']), /^application\/x-ndjson/);
  const all = lines(response.body) as Line[];
  assert.deepEqual(all.map(({ op, kind, key }) => `${op} ${kind} ${key}`).sort(), [
    'add domain host1.example',
    'add domain host2.example',
    `add url ${url(1)}`,
    `add url ${url(2)}`,
  ]);
  const [first] = all as [Line];
  const newest = all.at(-1)?.seq ?? 0;
  assert.equal(response.headers['newest-change'], String(newest));
  assert.deepEqual(lines((await app.inject(`${paths.changes}?after=${first.seq}`)).body), all.slice(1));
  assert.deepEqual(lines((await app.inject(`${paths.changes}?after=${first.seq}&limit=2`)).body), all.slice(1, 3));
  assert.equal((await app.inject(`${paths.changes}?after=${newest}`)).body, '');
});

test('changes: wrong, future and lost cursors', async (t) => {
  const { app, store } = await build(t, { observations: [observed(1)] });
  for (const query of ['after=x', 'after=-1', 'after=1&after=2', 'limit=0', 'limit=10001', 'after=999']) {
    assertError(await app.inject(`${paths.changes}?${query}`), 400);
  }
  assertError(
    await app.inject({ url: paths.changes, headers: { 'last-event-id': 'x' } }),
    400,
    /^"Last-Event-ID" must be a decimal integer/,
  );
  await store.removeOldChanges(Date.now(), 0, 100);
  assertError(await app.inject(`${paths.changes}?after=0`), 410, /load a full list, then continue after \d+/);
  assert.equal((await app.inject(paths.changes)).body, '');
});

test('changes: a number that no change has yet is not counted as a query, one that is not kept is', async (t) => {
  const { counters } = admitAll(() => NOW);
  const { app, store } = await build(t, { observations: [observed(1)], services: { counters } });
  const queries = async () => (await counters.read(OPERATOR.account.sub)).counts.month;
  const future = `${paths.changes}?after=${Number.MAX_SAFE_INTEGER}`;
  for (const accept of ['*/*', 'text/event-stream']) {
    const refused = await app.inject({ url: future, headers: { accept } });
    assertError(refused, 400, /No change has the number 9007199254740991 yet/);
    assert.equal(refused.headers.ratelimit, undefined);
  }
  assert.equal(await queries(), 0);
  await store.removeOldChanges(Date.now(), 0, 100);
  assertError(await app.inject(`${paths.changes}?after=0`), 410);
  assert.equal(await queries(), 1);
});

test('changes: kinds of datasets that the account does not have are left out; without any it is refused', async (t) => {
  for (const [ads, kinds] of [
    [['URL'], ['url']],
    [['DOMAIN', 'DROP'], ['domain']],
    [[], null],
  ] as const) {
    const { app } = await build(t, {
      observations: [observed(1)],
      services: { authenticate: () => ({ ...OPERATOR, limits: { ...OPERATOR.limits, ads: [...ads] } }) },
    });
    const response = await app.inject({ url: paths.changes, headers: { authorization: 'Bearer x' } });
    if (kinds === null) assertError(response, 403);
    else assert.deepEqual([...new Set((lines(response.body) as Line[]).map(({ kind }) => kind))], kinds);
  }
});

test('changes: server-sent events as they happen, and again from the last id', async (t) => {
  const { counters } = admitAll(() => NOW);
  const { port, store } = await serve(t, { observations: [observed(1)], services: { counters } });
  const stream = openEvents(t, port, `${paths.changes}?after=0`);
  await until(() => stream.events().length === 2);
  assert.match(stream.text(), /content-type: text\/event-stream/i);
  const second = toObservation(observed(2));
  assert.ok(second.ok);
  await store.apply([second.observation]);
  await until(() => stream.events().length === 4);
  assert.equal(counters.countStreams(), 1);
  stream.close();
  await until(() => counters.countStreams() === 0);
  const [, last = ''] = stream.events();
  // The header counts, not the address with which the client began.
  const again = openEvents(t, port, `${paths.changes}?after=0`, last.split(' ')[0]);
  await until(() => again.events().length === 2);
  assert.deepEqual(again.events(), stream.events().slice(2));
});

test('changes: a stream follows the datasets of its account, and ends when the account loses its access', async (t) => {
  let ads = ['URL', 'DOMAIN'];
  const refused = () => {
    throw new AppError('forbidden', 'The account is disabled');
  };
  const authenticate = () => (ads.length === 0 ? refused() : { ...OPERATOR, limits: { ...OPERATOR.limits, ads } });
  const { port, store } = await serve(t, { observations: [observed(1)], services: { authenticate } });
  const stream = openEvents(t, port, `${paths.changes}?after=0`);
  await until(() => stream.events().length === 2);
  const apply = async (n: number) => {
    const read = toObservation(observed(n));
    assert.ok(read.ok);
    await store.apply([read.observation]);
  };
  ads = ['DOMAIN'];
  await apply(2);
  await until(() => stream.events().length === 3);
  assert.match(stream.events()[2] ?? '', / host2\.example$/);
  ads = [];
  await apply(3);
  await until(() => stream.text().endsWith('0\r\n\r\n'));
  assert.equal(stream.events().length, 3);
});

test('changes: a stream without changes begins at once, and ends when the server stops', async (t) => {
  let isStopping = false;
  const { port } = await serve(t, { services: { isStopping: () => isStopping } });
  const stream = openEvents(t, port, paths.changes);
  await until(() => /\nid: 0\n\n/.test(stream.text()));
  isStopping = true;
  await until(() => stream.text().endsWith('0\r\n\r\n'));
});
