import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  containsNetwork,
  formatKeyNetwork,
  type KeyNetwork,
  lastAddress,
  networkAt,
  parseKeyNetwork,
} from '../../src/core/ip/key-network.ts';
import { createFamilySets } from '../../src/core/ip/network-set.ts';
import { isReserved, RESERVED } from '../../src/core/ip/reserved.ts';

function network(text: string): KeyNetwork {
  const parsed = parseKeyNetwork(text);
  assert.ok(parsed !== null, text);
  return parsed;
}

for (const [text, expected] of [
  ['10.0.0.1', true],
  ['100.64.0.0/10', true],
  ['100.0.0.0/8', false], // contains a reserved network, and others
  ['169.254.1.1', true],
  ['172.31.255.255', true],
  ['172.32.0.0', false],
  ['192.0.2.0/24', true],
  ['192.0.1.255', false],
  ['223.255.255.255', false],
  ['224.0.0.1', true],
  ['255.255.255.255', true],
  ['8.0.0.0/8', false],
  ['::1', true],
  ['::', true],
  ['::/96', true],
  ['64:ff9b::1', true],
  ['2001:db8::1', true],
  ['2001:db7::/32', false],
  ['2002::/16', true],
  ['2a00::/12', false],
  ['3fff::/20', true],
  ['4000::', true],
  ['fe80::1', true],
  ['ff02::1', true],
  ['2000::/2', false],
  ['::/0', false],
] as const) {
  test(`isReserved: ${text}`, () => assert.equal(isReserved(network(text)), expected));
}

for (const [text, inside] of [
  ['8.0.0.0/8', []],
  ['192.0.0.0/8', ['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16']],
  ['2001::/16', ['2001::/23', '2001:db8::/32']],
  ['::/0', ['::/3', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '4000::/2', '8000::/1']],
  [
    '128.0.0.0/1',
    [
      '169.254.0.0/16',
      '172.16.0.0/12',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '192.168.0.0/16',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/3',
    ],
  ],
] as const) {
  test(`reserved networks inside ${text}`, () => {
    assert.deepEqual(RESERVED.inside(network(text)).map(formatKeyNetwork), inside);
  });
}

/** Few distinct bits, so that networks are often nested. */
const networks = fc
  .tuple(fc.uint8Array({ minLength: 16, maxLength: 16, max: 1 }), fc.integer({ min: 0, max: 128 }))
  .map(([ip, prefix]) => networkAt(ip, prefix));

/** Whether one of the networks contains it, or others contain its halves. */
function isCovered(list: readonly KeyNetwork[], one: KeyNetwork): boolean {
  if (list.some((candidate) => containsNetwork(candidate, one))) return true;
  const inside = list.filter((candidate) => containsNetwork(one, candidate));
  const second = networkAt(lastAddress(one), one.prefix + 1);
  return inside.length > 1 && isCovered(inside, { ...one, prefix: one.prefix + 1 }) && isCovered(inside, second);
}

test('a set of networks covers what they contain together', () => {
  fc.assert(
    fc.property(fc.array(networks), networks, (list, one) => {
      assert.equal(createFamilySets(list).covers(one), isCovered(list, one));
    }),
  );
});

/** Parts of one network, so that they are often halves of each other. */
const parts = fc
  .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 120, max: 124 }))
  .map(([last, prefix]) => networkAt(network(`8.8.8.${last}`).ip, prefix));

test('two halves cover the network of both', () => {
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 30 }), parts, (list, one) => {
      assert.equal(createFamilySets(list).covers(one), isCovered(list, one));
    }),
  );
});
