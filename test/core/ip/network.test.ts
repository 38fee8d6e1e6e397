import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseIp } from '../../../src/core/ip/address.ts';
import { ASN_MAX, isInRanges, type Network, parseNetwork } from '../../../src/core/ip/network.ts';
import * as tables from '../../vectors/network.ts';

for (const [rule, cases] of Object.entries(tables)) {
  describe(`rule ${rule.toUpperCase()}`, () => {
    for (const { id, input, canonical, cost, why } of cases) {
      it(`${id} ${why}`, () => {
        const parsed = parseNetwork(input);
        if (canonical === undefined) return assert.match(parsed.ok ? 'accepted' : parsed.reason, /^ip must /);
        assert.deepEqual(parsed.ok && [parsed.network.canonical, parsed.network.cost], [canonical, cost]);
      });
    }
  });
}

const IPV4_FROM = 0xffff_0000_0000n;
const IPV4_TO = 0xffff_ffff_ffffn;

const ipv4 = fc.nat(0xffff_ffff).map((bits) => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.'));
const ipv6 = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map(ipv6Text),
  fc.bigInt({ min: IPV4_FROM - 3n, max: IPV4_TO + 3n }).map(ipv6Text),
  fc.nat(127).map((shift) => ipv6Text(1n << BigInt(shift))),
);
const prefix4 = fc.nat(32);
const prefix6 = fc.nat(128);

function ipv6Text(bits: bigint): string {
  return (bits.toString(16).padStart(32, '0').match(/.{4}/g) ?? []).join(':');
}

function network(text: string): Network {
  const parsed = parseNetwork(text);
  assert.ok(parsed.ok, text);
  return parsed.network;
}

function numbers({ ranges }: Network): (readonly [bigint, bigint])[] {
  const number = (key: Uint8Array) => BigInt(`0x${Buffer.from(key).toString('hex')}`);
  return ranges.map(([from, to]) => [number(from), number(to)] as const);
}

/** A reference in arithmetic: clear the host bits, set them, remove IPv4 from IPv6 networks. */
function expectedRanges(bits: bigint, keyPrefix: number): [bigint, bigint][] {
  const size = 1n << BigInt(128 - keyPrefix);
  const from = bits - (bits % size);
  const to = from + size - 1n;
  if (keyPrefix >= 96 || to < IPV4_FROM || from > IPV4_TO) return [[from, to]];
  const pieces: [bigint, bigint][] = [
    [from, IPV4_FROM - 1n],
    [IPV4_TO + 1n, to],
  ];
  return pieces.filter(([low, high]) => low <= high);
}

describe('a network', () => {
  it('of IPv4 covers the expected keys', () => {
    fc.assert(
      fc.property(ipv4, prefix4, (address, prefix) => {
        const bits = address.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0xffffn);
        assert.deepEqual(numbers(network(`${address}/${prefix}`)), expectedRanges(bits, prefix + 96));
      }),
    );
  });

  it('of IPv6 covers the expected keys and no IPv4 key', () => {
    fc.assert(
      fc.property(ipv6, prefix6, (address, prefix) => {
        const bits = BigInt(`0x${address.replaceAll(':', '')}`);
        assert.deepEqual(numbers(network(`${address}/${prefix}`)), expectedRanges(bits, prefix));
      }),
      { numRuns: 5_000 },
    );
  });

  it('that contains the IPv4 keys is one range if it ends with them, else two', () => {
    for (let prefix = 0; prefix <= 95; prefix++) {
      assert.equal(network(`::ffff:0:0/${prefix}`).ranges.length, prefix < 80 ? 2 : 1, `/${prefix}`);
    }
    assert.deepEqual(numbers(network('::/0')), [
      [0n, IPV4_FROM - 1n],
      [IPV4_TO + 1n, (1n << 128n) - 1n],
    ]);
  });

  it('is equal to the network of its canonical form', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), fc.option(prefix4), (address, prefix) => {
        const first = network(prefix === null ? address : `${address}/${prefix}`);
        assert.deepEqual(network(first.canonical), first);
      }),
      { numRuns: 5_000 },
    );
  });

  it('is the same for each of its addresses', () => {
    fc.assert(
      fc.property(ipv4, prefix4, (address, prefix) => {
        const expected = network(`${address}/${prefix}`);
        assert.deepEqual(network(`::ffff:${address}/${prefix + 96}`), expected);
        const last = numbers(expected)[0]?.[1] ?? 0n;
        assert.deepEqual(network(`${ipv6Text(last)}/${prefix + 96}`), expected);
      }),
    );
  });

  it('costs one query more with each bit that its prefix is shorter', () => {
    for (let prefix = 1; prefix <= 32; prefix++) {
      assert.equal(network(`192.0.2.0/${prefix - 1}`).cost, network(`192.0.2.0/${prefix}`).cost + 1);
    }
    for (let prefix = 1; prefix <= 128; prefix++) {
      const [wider, narrower] = [network(`2001:db8::/${prefix - 1}`).cost, network(`2001:db8::/${prefix}`).cost];
      assert.equal(wider, prefix <= 64 ? narrower + 1 : 1);
    }
  });

  it('of a single address has one key, cost 1 and no prefix', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), (address) => {
        const { canonical, cost, ranges } = network(address);
        assert.equal(cost, 1);
        assert.ok(!canonical.includes('/'));
        assert.equal(ranges.length, 1);
        assert.deepEqual(ranges[0]?.[0], ranges[0]?.[1]);
      }),
    );
  });

  it('is parsed from any text without an exception', () => {
    const alphabet = fc.constantFrom(...'0123456789abcdfx.:/%[] -+１');
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: alphabet, maxLength: 24 }), fc.string({ unit: 'binary' })), (text) => {
        const parsed = parseNetwork(text);
        if (parsed.ok) assert.deepEqual(network(parsed.network.canonical), parsed.network);
      }),
      { numRuns: 20_000 },
    );
  });
});

describe('isInRanges', () => {
  for (const [address, text, isInside] of [
    ['192.0.1.255', '192.0.2.0/24', false],
    ['192.0.2.0', '192.0.2.0/24', true],
    ['192.0.2.77', '192.0.2.0/24', true],
    ['192.0.2.255', '192.0.2.0/24', true],
    ['192.0.3.0', '192.0.2.0/24', false],
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.0', '192.0.2.1', false],
    ['192.0.2.2', '192.0.2.1', false],
    ['::1', '::/0', true],
    ['2001:db8::1', '::/0', true],
    ['192.0.2.1', '::/0', false],
  ] as const) {
    it(`${address} in ${text}: ${isInside}`, () => {
      assert.equal(isInRanges(parseIp(address) as Uint8Array, network(text).ranges), isInside);
    });
  }

  it('is false without ranges', () => assert.equal(isInRanges(new Uint8Array(16), []), false));
});

it('the greatest AS number has 32 bits', () => assert.equal(ASN_MAX, 2 ** 32 - 1));
