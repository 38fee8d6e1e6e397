import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatIp } from '../../../src/core/ip/address.ts';
import {
  containsNetwork,
  formatKeyNetwork,
  type KeyNetwork,
  lastAddress,
  networkAt,
  parseKeyNetwork,
} from '../../../src/core/ip/key-network.ts';

const network = (text: string): KeyNetwork => {
  const parsed = parseKeyNetwork(text);
  assert.ok(parsed !== null, text);
  return parsed;
};

const PARSED: [text: string, canonical: string, prefix: number, last: string][] = [
  ['192.0.2.1', '192.0.2.1', 128, '192.0.2.1'],
  ['192.0.2.77/24', '192.0.2.0/24', 120, '192.0.2.255'],
  ['192.0.2.77/32', '192.0.2.77', 128, '192.0.2.77'],
  ['10.0.0.0/8', '10.0.0.0/8', 104, '10.255.255.255'],
  ['0.0.0.0/0', '0.0.0.0/0', 96, '255.255.255.255'],
  ['2001:DB8::1/32', '2001:db8::/32', 32, '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::1', '2001:db8::1', 128, '2001:db8::1'],
  ['2001:db8::8001/113', '2001:db8::8000/113', 113, '2001:db8::ffff'],
  ['::ffff:192.0.2.1', '192.0.2.1', 128, '192.0.2.1'],
  ['::ffff:192.0.2.0/120', '192.0.2.0/24', 120, '192.0.2.255'],
];

test('parses addresses and networks, and clears host bits', () => {
  for (const [text, canonical, prefix, last] of PARSED) {
    assert.equal(formatKeyNetwork(network(text)), canonical, text);
    assert.equal(network(text).prefix, prefix, text);
    assert.equal(formatIp(lastAddress(network(text))), last, text);
  }
});

test('refuses everything else', () => {
  const texts = [
    '',
    '192.0.2',
    '192.0.2.1/',
    '192.0.2.1/33',
    '192.0.2.1/024',
    '192.0.2.1/-1',
    '::1/129',
    '::1%eth0',
    'a/8',
  ];
  for (const text of texts) assert.equal(parseKeyNetwork(text), null, text);
});

test('a network contains itself and what is inside', () => {
  const cases: [outer: string, inner: string, isInside: boolean][] = [
    ['192.0.2.0/24', '192.0.2.0/24', true],
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['192.0.2.0/25', '192.0.2.0/24', false],
    ['192.0.2.0/23', '192.0.3.7', true],
    ['2001:db8::/32', '2001:db8:1::/48', true],
    ['2001:db8::/32', '2001:db9::/48', false],
  ];
  for (const [outer, inner, isInside] of cases) {
    assert.equal(containsNetwork(network(outer), network(inner)), isInside, `${outer} ${inner}`);
  }
});

test('every network contains its first and last address and no neighbour', () => {
  const ips = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(ips, fc.integer({ min: 1, max: 128 }), (ip, prefix) => {
      const one = networkAt(ip, prefix);
      const last = lastAddress(one);
      assert.ok(containsNetwork(one, { ip, prefix: 128 }));
      assert.ok(containsNetwork(one, { ip: one.ip, prefix: 128 }) && containsNetwork(one, { ip: last, prefix: 128 }));
      const next = BigInt(`0x${Buffer.from(last).toString('hex')}`) + 1n;
      if (next >> 128n !== 0n) return;
      const neighbour = Buffer.from(next.toString(16).padStart(32, '0'), 'hex');
      assert.ok(!containsNetwork(one, { ip: neighbour, prefix: 128 }));
    }),
    { numRuns: 500 },
  );
});
