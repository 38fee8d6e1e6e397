import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatKeyNetwork, type KeyNetwork, parseKeyNetwork } from '../../../src/core/ip/key-network.ts';
import { createFamilySets, withoutNetworks } from '../../../src/core/ip/network-set.ts';

const networkOf = (text: string): KeyNetwork => parseKeyNetwork(text) ?? assert.fail(text);
const SET = createFamilySets(
  [
    ...['192.0.2.0/24', '192.0.2.7', '198.51.100.1', '198.51.100.64/26', '::/0'],
    ...[
      '203.0.112.0/26',
      '203.0.112.192/26',
      '203.0.112.64/26',
      '203.0.112.128/26',
      '203.0.114.128/25',
      '203.0.115.0/25',
    ],
  ].map(networkOf),
);

const VECTORS: [network: string, isCovered: boolean, inside: string[]][] = [
  ['192.0.2.0/25', true, []],
  ['192.0.2.0/24', true, ['192.0.2.0/24']],
  ['192.0.0.0/16', false, ['192.0.2.0/24']],
  ['198.51.100.0/24', false, ['198.51.100.1', '198.51.100.64/26']],
  ['203.0.113.1', false, []],
  ['203.0.112.0/24', true, ['203.0.112.0/24']],
  ['203.0.112.64/26', true, []],
  ['203.0.112.64/27', true, []],
  // Beside each other, but not halves of one network.
  ['203.0.114.0/23', false, ['203.0.114.128/25', '203.0.115.0/25']],
  ['2001:db8::1', true, []],
];

for (const [network, isCovered, inside] of VECTORS) {
  test(`networks around and inside ${network}`, () => {
    assert.equal(SET.covers(networkOf(network)), isCovered);
    assert.deepEqual(SET.inside(networkOf(network)).map(formatKeyNetwork), inside);
  });
}

const REST: [network: string, holes: string[], rest: string[]][] = [
  ['192.0.2.0/24', [], ['192.0.2.0/24']],
  ['192.0.2.0/24', ['192.0.2.0/24'], []],
  ['192.0.2.0/24', ['192.0.2.0/25', '192.0.2.128/25'], []],
  ['192.0.2.0/30', ['192.0.2.1'], ['192.0.2.0', '192.0.2.2/31']],
  ['2001:db8::/126', ['2001:db8::3', '2001:db8::'], ['2001:db8::1', '2001:db8::2']],
];

for (const [network, holes, rest] of REST) {
  test(`${network} without ${holes.join(', ') || 'anything'}`, () => {
    assert.deepEqual(withoutNetworks(networkOf(network), holes.map(networkOf)).map(formatKeyNetwork), rest);
  });
}
