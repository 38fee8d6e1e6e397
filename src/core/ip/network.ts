import { formatIp, formatIpv6, IP_BYTES, isIpv4, parseIp } from './address.ts';

/** Two sixteen-byte keys (`address.ts`), both inclusive. */
export type IpRange = readonly [from: Uint8Array, to: Uint8Array];

/** The value of the search key `ip`: one address or one network. */
export type Network = {
  /** An address stays an address, `192.0.2.77/24` becomes `192.0.2.0/24`. */
  canonical: string;
  /** The weight of the search: how many queries it counts as. */
  cost: number;
  /** One range, or two if an IPv6 network surrounds the IPv4 keys. */
  ranges: readonly IpRange[];
};

type ParsedNetwork = { ok: true; network: Network } | { ok: false; reason: string };

const ADDRESS_REASON =
  'ip must be one IPv4 address of four decimal octets or one IPv6 address, without brackets, port or zone, ' +
  'optionally followed by /prefix: 192.0.2.1, 192.0.2.0/24, 2001:db8::/32';
const PREFIX_REASON =
  'ip must have a prefix of 0 to 32 for IPv4 or 0 to 128 for IPv6 after the slash, without leading zeros or netmask: ' +
  '192.0.2.0/24, 2001:db8::/32';

/** The largest AS number: four octets (RFC 6793). */
export const ASN_MAX = 0xffff_ffff;

const IPV4_BITS = 32;
const IPV6_BITS = 128;
/** The prefix length of ::ffff:0:0/96, which holds the IPv4 keys. */
const MAPPED_PREFIX = IPV6_BITS - IPV4_BITS;
/** A longer IPv6 prefix is inside one /64 and counts as one query. */
const IPV6_SMALLEST_COUNTED_PREFIX = 64;

const PREFIX = /^(?:0|[1-9][0-9]{0,2})$/;

/**
 * Rules C1 to C7. Host bits are cleared, as in RFC 4291 section 2.3.
 *
 *     192.0.2.77/24          192.0.2.0/24     counts 9
 *     ::ffff:192.0.2.0/120   192.0.2.0/24     counts 9: an IPv4-mapped network of /96 or longer is IPv4
 *     ::ffff:0:0/95          ::fffe:0:0/95    counts 1: IPv6, contains no IPv4 address
 */
export function parseNetwork(text: string): ParsedNetwork {
  const slash = text.indexOf('/');
  const address = parseIp(slash === -1 ? text : text.slice(0, slash));
  if (address === null) return { ok: false, reason: ADDRESS_REASON };
  if (slash === -1) return { ok: true, network: singleAddress(address) };
  const isDotted = !text.slice(0, slash).includes(':');
  const prefix = parsePrefix(text.slice(slash + 1), isDotted ? IPV4_BITS : IPV6_BITS);
  if (prefix === null) return { ok: false, reason: PREFIX_REASON };
  return { ok: true, network: networkOf(address, isDotted ? prefix + MAPPED_PREFIX : prefix) };
}

export function isInRanges(ip: Uint8Array, ranges: readonly IpRange[]): boolean {
  return ranges.some(([from, to]) => compareKeys(from, ip) <= 0 && compareKeys(ip, to) <= 0);
}

function parsePrefix(text: string, max: number): number | null {
  return PREFIX.test(text) && Number(text) <= max ? Number(text) : null;
}

function singleAddress(address: Uint8Array): Network {
  return { canonical: formatIp(address), cost: 1, ranges: [[address, address]] };
}

/** `keyPrefix` counts bits of the key: an IPv4 /24 is 120. */
function networkOf(address: Uint8Array, keyPrefix: number): Network {
  const from = withHostBits(address, keyPrefix, 0);
  const to = withHostBits(address, keyPrefix, 1);
  // A prefix below /96 never gets here: it clears at least the last of the sixteen one bits of ::ffff:0:0/96.
  if (isIpv4(from)) {
    const prefix = keyPrefix - MAPPED_PREFIX;
    return { canonical: `${formatIp(from)}/${prefix}`, cost: ipv4Cost(prefix), ranges: [[from, to]] };
  }
  return { canonical: `${formatIpv6(from)}/${keyPrefix}`, cost: ipv6Cost(keyPrefix), ranges: withoutIpv4(from, to) };
}

/** Rule C7. `prefix` as it is written: 24 for an IPv4 /24. */
export function networkCost(version: 4 | 6, prefix: number): number {
  return version === 4 ? ipv4Cost(prefix) : ipv6Cost(prefix);
}

/** Rule C7: log2 of the number of addresses, plus one. A /24 has 2^8 addresses: 9. */
function ipv4Cost(prefix: number): number {
  return IPV4_BITS - prefix + 1;
}

/** Rule C7: the same formula for the number of /64 networks. A /56 has 2^8 of them: 9. */
function ipv6Cost(prefix: number): number {
  return Math.max(1, IPV6_SMALLEST_COUNTED_PREFIX - prefix + 1);
}

function withHostBits(address: Uint8Array, keyPrefix: number, bit: 0 | 1): Uint8Array {
  return address.map((byte, i) => {
    const networkBits = Math.min(8, Math.max(0, keyPrefix - 8 * i));
    const hostMask = 0xff >>> networkBits;
    return bit === 1 ? byte | hostMask : byte & ~hostMask;
  });
}

const IPV4_KEYS: IpRange = [keyOf('::ffff:0.0.0.0'), keyOf('::ffff:255.255.255.255')];
const BEFORE_IPV4 = keyOf('::fffe:ffff:ffff');
const AFTER_IPV4 = keyOf('::1:0:0:0');

/**
 * Rule C6: an IPv6 network matches no IPv4 address, so the IPv4 keys are removed from its range. A network that contains
 * them has a prefix below 96 and begins before them. With a prefix of 80 to 95 it also ends with them: one range remains.
 */
export function withoutIpv4(from: Uint8Array, to: Uint8Array): readonly IpRange[] {
  if (compareKeys(from, IPV4_KEYS[0]) > 0 || compareKeys(to, IPV4_KEYS[1]) < 0) return [[from, to]];
  const before: IpRange = [from, BEFORE_IPV4];
  return compareKeys(to, IPV4_KEYS[1]) === 0 ? [before] : [before, [AFTER_IPV4, to]];
}

/** Negative if `a` is lower. Not Buffer.compare, which takes longer for sixteen bytes. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < IP_BYTES; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function keyOf(text: string): Uint8Array {
  const key = parseIp(text);
  if (key === null) throw new Error(`not an address: ${text}`);
  return key;
}
