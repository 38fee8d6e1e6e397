import assert from 'node:assert/strict';
import { test } from 'node:test';
import type postgres from 'postgres';
import { createClients } from '../../src/database/postgres/clients.ts';

/** Clients that only have a name. */
function named(connections: number) {
  let opened = 0;
  const ended: unknown[] = [];
  const open = () => {
    const name = ++opened;
    return { name, end: async () => void ended.push(name) } as unknown as postgres.Sql;
  };
  return { clients: createClients(open, connections), opened: () => opened, ended };
}

test('a client is used by one at a time; another one is opened only if none is free', async () => {
  const { clients, opened } = named(2);
  const a = await clients.acquire(1_000);
  clients.release(a);
  assert.equal(await clients.acquire(1_000), a);
  const b = await clients.acquire(1_000);
  assert.deepEqual([a === b, opened()], [false, 2]);
  const [third, fourth] = [clients.acquire(1_000), clients.acquire(1_000)];
  assert.deepEqual(clients.count(), { inUse: 2, idle: 0, waiting: 2 });
  clients.release(b);
  assert.equal(await third, b, 'the first that waits gets it');
  clients.release(a);
  assert.equal(await fourth, a);
  assert.equal(opened(), 2);
  clients.release(b);
  assert.deepEqual(clients.count(), { inUse: 1, idle: 1, waiting: 0 });
});

test('whoever waits too long, or aborts, is refused and takes no client from the others', async () => {
  const { clients } = named(1);
  const client = await clients.acquire(1_000);
  const abort = new AbortController();
  const late = clients.acquire(1);
  const aborted = clients.acquire(1_000, abort.signal);
  const next = clients.acquire(1_000);
  await assert.rejects(async () => late, { code: 'unavailable', message: 'PostgreSQL does not respond' });
  abort.abort(new Error('left'));
  await assert.rejects(async () => aborted, { message: 'left' });
  clients.release(client);
  assert.equal(await next, client);
});

test('an abort in the moment in which a client is given takes no place from the others', async () => {
  const { clients } = named(1);
  const client = await clients.acquire(1_000);
  const abort = new AbortController();
  const first = clients.acquire(1_000, abort.signal);
  const second = clients.acquire(1_000);
  clients.release(client);
  abort.abort(new Error('left'));
  assert.deepEqual(clients.count(), { inUse: 1, idle: 0, waiting: 1 });
  clients.release(await first);
  assert.equal(await second, client);
});

test('a client that has lost its connection is ended, and whoever waits gets a new one', async () => {
  const { clients, opened, ended } = named(1);
  const lost = await clients.acquire(1_000);
  const next = clients.acquire(1_000);
  clients.replace(lost);
  assert.deepEqual([opened(), ended], [1, [1]]);
  clients.release(await next);
  assert.deepEqual([opened(), clients.count()], [2, { inUse: 0, idle: 1, waiting: 0 }]);
});

test('the end refuses whoever waits, and ends every client', async () => {
  const { clients, ended } = named(2);
  await Promise.all([clients.acquire(1_000), clients.acquire(1_000)]);
  const waiting = assert.rejects(async () => clients.acquire(1_000), { code: 'unavailable' });
  await clients.end(1);
  await waiting;
  assert.deepEqual(ended, [1, 2]);
});
