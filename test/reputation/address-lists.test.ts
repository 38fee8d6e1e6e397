import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { createAddressListCopy } from '../../src/reputation/address-lists.ts';
import type { AddressLists, NetworkListEntry } from '../../src/reputation/store.ts';
import { networkOf, T } from './contract/evidence.ts';

const allow = (cidr: string): NetworkListEntry => ({
  as: 'allow',
  network: networkOf(cidr),
  source: 'list',
  ts: T,
  reason: '',
});

function createWorld() {
  const world = { version: 1, entries: [allow('192.0.2.0/24')], nowMs: 0, reads: 0, versions: 0, isDown: false };
  const store = {
    listVersion() {
      world.versions++;
      if (world.isDown) throw new AppError('unavailable', 'down');
      return world.version;
    },
    async addressLists(): Promise<AddressLists> {
      world.reads++;
      return { entries: world.entries, removals: [], longestLifeSeconds: 0 };
    },
  };
  return { world, lists: createAddressListCopy(store, { nowMs: () => world.nowMs }) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('lists are read once, and again when their version has changed', async () => {
  const { world, lists } = createWorld();
  const [first, second] = await Promise.all([lists.current(), lists.current()]);
  assert.equal(first, second);
  world.entries = [allow('198.51.100.0/24')];
  world.version = 2;
  assert.equal(lists.current(), first, 'without a promise, and without asking the store within a second');
  assert.deepEqual([world.versions, world.reads], [1, 1]);

  world.nowMs = 1_000;
  assert.equal(lists.current(), first, 'no response waits for the new lists');
  await settled();
  const renewed = await lists.current();
  assert.equal(renewed.isAllowed(networkOf('192.0.2.1')), false);
  assert.equal(renewed.isAllowed(networkOf('198.51.100.1')), true);
  assert.deepEqual([world.versions, world.reads], [2, 2]);

  world.nowMs = 2_500;
  lists.current();
  await settled();
  assert.equal(lists.current(), renewed, 'the version is the same');
  assert.deepEqual([world.versions, world.reads], [3, 2]);
});

test('after a pause, and when the clock was set back, a response waits for the current lists', async () => {
  const { world, lists } = createWorld();
  await lists.current();
  for (const nowMs of [60_000, 1_000]) {
    world.nowMs = nowMs;
    world.version++;
    world.entries = [allow(`192.0.2.${world.version}`)];
    const current = await lists.current();
    assert.equal(current.isAllowed(networkOf(`192.0.2.${world.version}`)), true);
  }
});

test('lists are used while the store fails, but not for long', async () => {
  const { world, lists } = createWorld();
  const first = await lists.current();
  world.isDown = true;
  world.nowMs = 4_000;
  assert.equal(lists.current(), first);
  await settled();
  world.nowMs = 6_000;
  await assert.rejects(async () => lists.current(), { code: 'unavailable' });
  world.isDown = false;
  assert.equal(await lists.current(), first);
});

test('a network is on a list if its entries contain all of it', async () => {
  const { world, lists } = createWorld();
  world.entries = [
    '192.0.2.0/24',
    '192.0.2.0/28',
    '198.51.100.7',
    '::/16',
    '2001:db8::/32',
    '203.0.112.0/25',
    '203.0.112.128/25',
  ].map(allow);
  const { isAllowed, isShared } = await lists.current();
  for (const [cidr, expected] of [
    ['192.0.2.255', true],
    ['192.0.2.0/24', true],
    ['192.0.2.0/23', false],
    ['192.0.3.0', false],
    ['198.51.100.7', true],
    ['198.51.100.6/31', false],
    ['203.0.113.1', false],
    ['203.0.112.0/24', true],
    ['203.0.112.0/23', false],
    ['::1', true],
    ['::1:0:0:0/64', true],
    ['2001:db8:1::/48', true],
    ['2001:db9::1', false],
  ] as const) {
    assert.equal(isAllowed(networkOf(cidr)), expected, cidr);
    assert.equal(isShared(networkOf(cidr)), false);
  }
});

test('queries for fresh lists share one read, but not one that began before them', async () => {
  const { world, lists } = createWorld();
  const first = lists.current();
  world.version = 2;
  world.entries = [allow('198.51.100.0/24')];
  const others = await Promise.all([lists.fresh(), lists.fresh(), lists.fresh()]);
  await first;
  assert.deepEqual(
    others.map((copy) => copy.isAllowed(networkOf('198.51.100.1'))),
    [true, true, true],
  );
  assert.equal(world.reads, 2);
});
