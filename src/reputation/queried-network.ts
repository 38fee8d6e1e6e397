import { isIpv4, parseIp } from '../core/ip/address.ts';
import { IPV4_OFFSET, KEY_BITS, type KeyNetwork, networkAt } from '../core/ip/key-network.ts';
import { networkCost } from '../core/ip/network.ts';

/** The network of a query about addresses. */
export type QueriedNetwork = {
  network: KeyNetwork;
  /** What the client wrote: without a mask the address alone, even if it stands for its /64. */
  asked: KeyNetwork;
  /** How many queries it counts as. */
  cost: number;
};

type Parsed = ({ ok: true } & QueriedNetwork) | { ok: false; reason: string };

/** By version: the bits of an address, the mask of a query without one, and the widest mask of a query. */
const VERSIONS = {
  4: { bits: 32, without: 32, widest: 24 },
  6: { bits: 128, without: 64, widest: 56 },
} as const;

const DECIMAL = /^(?:0|[1-9][0-9]{0,2})$/;

const refused = (reason: string): Parsed => ({ ok: false, reason });

/**
 * The address, which may have its mask behind a slash, and the mask if it is a segment of its own.
 *
 *     192.0.2.77               192.0.2.77
 *     192.0.2.77/24            192.0.2.0/24, counts 9
 *     2001:db8::1              2001:db8::/64: without a mask, an IPv6 address stands for its /64
 *     ::ffff:192.0.2.77/120    192.0.2.0/24, as ::ffff:192.0.2.77/24
 */
export function parseQueriedNetwork(segment: string, maskSegment?: string): Parsed {
  const slash = segment.indexOf('/');
  if (slash !== -1 && maskSegment !== undefined) return refused('The mask must be given once, as /24 or as %2F24');
  const ip = parseIp(slash === -1 ? segment : segment.slice(0, slash));
  if (ip === null) return refused('The address must be IPv4 or IPv6, such as 192.0.2.1 or 2001:db8::1');
  const version = isIpv4(ip) ? 4 : 6;
  const mask = slash === -1 ? maskSegment : segment.slice(slash + 1);
  const prefix = mask === undefined ? VERSIONS[version].without : parseMask(mask, version, segment);
  if (prefix === null) return refused(maskReason(version));
  const { widest } = VERSIONS[version];
  if (prefix < widest) return refused(`The mask must not be wider than /${widest} for ${nameOf(version)}`);
  const network = networkAt(ip, version === 4 ? prefix + IPV4_OFFSET : prefix);
  const asked = mask === undefined ? { ip, prefix: KEY_BITS } : network;
  return { ok: true, network, asked, cost: networkCost(version, prefix) };
}

/** An IPv4 address in the form of IPv6 may have the mask of either; the two do not overlap. */
function parseMask(text: string, version: 4 | 6, address: string): number | null {
  if (!DECIMAL.test(text)) return null;
  const isMapped = version === 4 && address.includes(':');
  const mask = Number(text);
  const prefix = isMapped && mask >= IPV4_OFFSET ? mask - IPV4_OFFSET : mask;
  return prefix <= VERSIONS[version].bits ? prefix : null;
}

function maskReason(version: 4 | 6): string {
  const { bits, widest } = VERSIONS[version];
  return `The mask must be a decimal integer, ${widest} to ${bits} for ${nameOf(version)}`;
}

const nameOf = (version: 4 | 6): string => `IPv${version}`;
