import { formatIp, isIpv4, parseIp } from './address.ts';
import { type IpRange, withoutIpv4 } from './network.ts';

/**
 * A network as stores and indexes hold it: the first address as sixteen bytes (`address.ts`), and how many of their 128 bits
 * are fixed. 192.0.2.0/24 is ::ffff:192.0.2.0 with a prefix of 120; a single address has 128.
 */
export type KeyNetwork = { ip: Uint8Array; prefix: number };

export const KEY_BITS = 128;
/** The bits of a key in front of an IPv4 address. */
export const IPV4_OFFSET = 96;

const PREFIX = /^(?:0|[1-9][0-9]{0,2})$/;

/** An address, or a network in CIDR notation; null for any other text. Host bits are cleared. */
export function parseKeyNetwork(text: string): KeyNetwork | null {
  const slash = text.indexOf('/');
  const address = slash === -1 ? text : text.slice(0, slash);
  const ip = parseIp(address);
  if (ip === null) return null;
  if (slash === -1) return { ip, prefix: KEY_BITS };
  const prefix = text.slice(slash + 1);
  const offset = address.includes(':') ? 0 : IPV4_OFFSET;
  if (!PREFIX.test(prefix) || Number(prefix) + offset > KEY_BITS) return null;
  return networkAt(ip, Number(prefix) + offset);
}

/** The network of this size that contains the address. */
export function networkAt(ip: Uint8Array, prefix: number): KeyNetwork {
  const cleared = new Uint8Array(ip);
  for (let i = prefix >>> 3; i < cleared.length; i++) {
    const fixedBits = Math.max(0, prefix - 8 * i);
    cleared[i] = (cleared[i] ?? 0) & ~(0xff >>> fixedBits);
  }
  return { ip: cleared, prefix };
}

/** The last address of a network. */
export function lastAddress({ ip, prefix }: KeyNetwork): Uint8Array {
  const last = new Uint8Array(ip);
  for (let i = prefix >>> 3; i < last.length; i++) {
    const fixedBits = Math.max(0, prefix - 8 * i);
    last[i] = (last[i] ?? 0) | (0xff >>> fixedBits);
  }
  return last;
}

/** An IPv4 network. An IPv6 network is not, even if it contains the IPv4 keys. */
export function isIpv4Network({ ip, prefix }: KeyNetwork): boolean {
  return prefix >= IPV4_OFFSET && isIpv4(ip);
}

/** The keys of a network, without IPv4 keys in an IPv6 network: one range, or two around the IPv4 keys. */
export function keyRanges(network: KeyNetwork): readonly IpRange[] {
  const last = lastAddress(network);
  return isIpv4Network(network) ? [[network.ip, last]] : withoutIpv4(network.ip, last);
}

/** Whether `outer` contains all of `inner`. An IPv6 network around the IPv4 keys contains no IPv4 address. */
export function containsNetwork(outer: KeyNetwork, inner: KeyNetwork): boolean {
  if (outer.prefix > inner.prefix) return false;
  const bytes = outer.prefix >>> 3;
  for (let i = 0; i < bytes; i++) if (outer.ip[i] !== inner.ip[i]) return false;
  const bits = outer.prefix & 7;
  if (bits !== 0 && ((outer.ip[bytes] ?? 0) ^ (inner.ip[bytes] ?? 0)) >>> (8 - bits) !== 0) return false;
  return outer.prefix >= IPV4_OFFSET || !isIpv4Network(inner);
}

/** The address alone, or CIDR notation when it is more than one address: 192.0.2.1, 192.0.2.0/24, 2001:db8::/32. */
export function formatKeyNetwork({ ip, prefix }: KeyNetwork): string {
  if (prefix === KEY_BITS) return formatIp(ip);
  // A network that contains the IPv4 keys and more is IPv6; its first address is not in ::ffff:0:0/96.
  return `${formatIp(ip)}/${isIpv4Network({ ip, prefix }) ? prefix - IPV4_OFFSET : prefix}`;
}
