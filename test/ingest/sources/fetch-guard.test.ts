import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseIp } from '../../../src/core/ip/address.ts';
import { type IpRange, parseNetwork } from '../../../src/core/ip/network.ts';
import { checkLiteral, guardedLookup, refusedKind } from '../../../src/ingest/sources/fetch-guard.ts';

function ranges(...networks: string[]): IpRange[] {
  return networks.flatMap((text) => {
    const parsed = parseNetwork(text);
    assert.ok(parsed.ok, text);
    return [...parsed.network.ranges];
  });
}

function kindOf(address: string, allowed: readonly IpRange[] = []): string | null {
  const ip = parseIp(address);
  assert.ok(ip, address);
  return refusedKind(ip, allowed);
}

const REFUSED = [
  ['0.0.0.0', 'this host'],
  ['0.1.2.3', 'this host'],
  ['10.0.0.0', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.0', 'carrier-grade NAT'],
  ['100.100.100.200', 'carrier-grade NAT'],
  ['100.127.255.255', 'carrier-grade NAT'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.255', 'loopback'],
  ['168.63.129.16', 'Azure platform'],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'link-local'],
  ['169.254.170.2', 'link-local'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.192', 'reserved'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', 'reserved'],
  ['192.168.0.1', 'private'],
  ['198.18.0.1', 'benchmarking'],
  ['198.19.255.255', 'benchmarking'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.7', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['::', 'reserved'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'reserved'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:169.254.169.254', 'link-local'],
  ['::ffff:0:127.0.0.1', 'reserved'],
  ['64:ff9b::127.0.0.1', 'loopback'],
  ['64:ff9b::10.0.0.1', 'private'],
  ['64:ff9b::a9fe:a9fe', 'link-local'],
  ['64:ff9b:1::1', 'reserved'],
  ['64:ff9b:1:ffff:ffff:ffff:8.8.8.8', 'reserved'],
  ['100::1', 'reserved'],
  ['2001::1', 'reserved'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'reserved'],
  ['2001:10::1', 'reserved'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::1', '6to4'],
  ['2002:808:808::1', '6to4'],
  ['3fff::1', 'documentation'],
  ['4000::1', 'reserved'],
  ['5f00::1', 'reserved'],
  ['fc00::1', 'private'],
  ['fd00:ec2::254', 'private'],
  ['fd20:ce::254', 'private'],
  ['fe80::1', 'link-local'],
  ['fe80::a9fe:a9fe', 'link-local'],
  ['fec0::1', 'reserved'],
  ['ff02::1', 'multicast'],
] as const;

/** Addresses next to refused ranges, and public addresses. */
const ALLOWED = [
  '1.0.0.0',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2003::1',
  '2606:4700::1111',
  '3ffe:ffff::1',
];

describe('the guard of downloads', () => {
  for (const [address, kind] of REFUSED) {
    test(`refuses ${address} (${kind})`, () => assert.equal(kindOf(address), kind));
  }
  for (const address of ALLOWED) test(`allows ${address}`, () => assert.equal(kindOf(address), null));

  test('networks that the operator allows are allowed in every notation, and no others', () => {
    const allowed = ranges('10.1.0.0/16', 'fd12::/16', '::1');
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3', 'fd12::5', '::1']) {
      assert.equal(kindOf(address, allowed), null, address);
    }
    for (const address of ['10.2.0.1', '64:ff9b::10.2.0.1', 'fd13::5', '127.0.0.1', '169.254.169.254']) {
      assert.notEqual(kindOf(address, allowed), null, address);
    }
  });

  test('a literal address is checked, also one that only Node accepts as an address', () => {
    const guard = { resolve: async () => [], allowed: [] };
    for (const host of ['127.0.0.1', '::1', '::ffff:7f00:1', 'fe80::1%eth0', '::1%lo']) {
      assert.throws(() => checkLiteral(host, guard), /is a blocked address/, host);
    }
    checkLiteral('8.8.8.8', guard);
    checkLiteral('feeds.example', guard);
  });

  test('a host name is refused if one of its addresses is refused', async () => {
    const lookUp = (addresses: string[], all: boolean) =>
      new Promise((done) => {
        const lookup = guardedLookup({ resolve: async () => addresses, allowed: [] });
        lookup('feeds.example', { all }, (error, found, family) => done(error?.message ?? [found, family]));
      });
    assert.deepEqual(await lookUp(['8.8.8.8', '2606:4700::1111'], false), ['8.8.8.8', 4]);
    assert.deepEqual(await lookUp(['8.8.8.8', '2606:4700::1111'], true), [
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700::1111', family: 6 },
      ],
      undefined,
    ]);
    assert.match(
      String(await lookUp(['8.8.8.8', '10.0.0.7'], true)),
      /^feeds\.example is at 10\.0\.0\.7, .*\(private\)/,
    );
    assert.match(String(await lookUp(['fe80::1%eth0'], true)), /unreadable/);
    assert.match(String(await lookUp([], true)), /has no address/);
  });
});
