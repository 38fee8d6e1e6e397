import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { ipv4Key, isIpv4, parseIp } from '../../core/ip/address.ts';
import { type IpRange, isInRanges, parseNetwork } from '../../core/ip/network.ts';

/**
 * Restricts the addresses that downloads connect to. Others choose the host names in URLs and redirects, and this server
 * can reach what they cannot: itself, its neighbours, the metadata service of its cloud (SSRF).
 */
export type Guard = {
  /** All addresses of a host name. */
  resolve(host: string): Promise<string[]>;
  /** Exceptions that the operator has allowed. */
  allowed: readonly IpRange[];
  /** What to do if an address is refused; the default is for feeds. */
  allowHint?: string;
};

/**
 * The special-purpose registries of IANA (RFC 6890), without the entries that the public internet uses.
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 */
const REFUSED_IPV4: readonly (readonly [cidr: string, what: string])[] = [
  ['0.0.0.0/8', 'this host'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'], // RFC 6598; 100.100.100.200 is the metadata service of Alibaba
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16', 'Azure platform'], // a public address that every Azure machine can reach
  ['169.254.0.0/16', 'link-local'], // 169.254.169.254 is the metadata service of most clouds
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'], // 192.0.0.192 is the metadata service of Oracle
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'], // up to the broadcast address
];

/** Global unicast (RFC 4291 section 2.4) is the only part of IPv6 in use on the internet: all other addresses are refused. */
const GLOBAL_IPV6 = rangesOf('2000::/3');

const REFUSED_IPV6: readonly (readonly [cidr: string, what: string])[] = [
  ['::1', 'loopback'],
  ['fc00::/7', 'private'], // fd00:ec2::254 is the metadata service of Amazon
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
  ['2001::/23', 'reserved'], // includes Teredo (2001::/32), which embeds an IPv4 address
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'], // embeds an IPv4 address; deprecated by RFC 7526
  ['3fff::/20', 'documentation'],
];

const REFUSED = [...REFUSED_IPV4, ...REFUSED_IPV6].map(([cidr, what]) => ({ ranges: rangesOf(cidr), what }));

/** In networks without IPv4, DNS64 creates these addresses for IPv4 hosts (RFC 6052): the embedded address is checked. */
const NAT64 = rangesOf('64:ff9b::/96');

/** `networks` are the addresses and networks that the operator allows, such as 10.1.0.0/16. */
export function createGuard(networks: readonly string[], resolve: Guard['resolve'] = resolveBySystem): Guard {
  return { resolve, allowed: networks.flatMap(rangesOf) };
}

/** The kind of a refused address; null if it may be connected to. */
export function refusedKind(ip: Uint8Array, allowed: readonly IpRange[]): string | null {
  if (isInRanges(ip, allowed)) return null;
  if (isInRanges(ip, NAT64)) return refusedKind(embeddedIpv4(ip), allowed);
  const refused = REFUSED.find(({ ranges }) => isInRanges(ip, ranges));
  if (refused !== undefined) return refused.what;
  return isIpv4(ip) || isInRanges(ip, GLOBAL_IPV6) ? null : 'reserved';
}

/** Node does not call `lookup` for an IP address in a URL, so it is checked before the request. */
export function checkLiteral(host: string, guard: Guard): void {
  if (isIP(host) !== 0) check(host, host, guard);
}

/**
 * The `lookup` of `http.request`: the socket connects to the addresses that were checked. A check before Node's own
 * lookup would be unsafe: the second DNS response may differ (DNS rebinding).
 */
export function guardedLookup(guard: Guard): LookupFunction {
  return (host, options, done) => {
    const found = guard.resolve(host).then((addresses) => {
      if (addresses.length === 0)
        throw new AppError('unavailable', `${host} has no address: check the spelling of the host name`);
      for (const address of addresses) check(host, address, guard);
      return addresses.map((address) => ({ address, family: isIP(address) }));
    });
    found.then(
      (all) => (options.all ? done(null, all) : done(null, all[0]?.address ?? '', all[0]?.family)),
      (error) => done(error, ''),
    );
  };
}

/** A person waits for it. A name that takes longer is checked by the server when it fetches the feed. */
const RESOLVE_WAIT_MS = 2_000;

/**
 * Whether downloads from the host would be refused: its first blocked address and the kind of it. Null if none is blocked,
 * `unknown` if the name cannot be resolved in time.
 */
export async function findBlocked(
  host: string,
  { resolve, allowed }: Guard,
): Promise<{ address: string; kind: string } | 'unknown' | null> {
  const addresses = await addressesOf(host, resolve).catch(() => []);
  for (const address of addresses) {
    const kind = kindOf(address, allowed);
    if (kind !== null) return { address, kind };
  }
  return addresses.length === 0 ? 'unknown' : null;
}

/** Without a lookup (RFC 6761 section 6): localhost and names below it are loopback, reserved names have no address. */
function addressesOf(host: string, resolve: Guard['resolve']): Promise<string[]> {
  if (isIP(host) !== 0) return Promise.resolve([host]);
  if (/(?:^|\.)localhost\.?$/i.test(host)) return Promise.resolve(['127.0.0.1']);
  if (/\.(?:example|invalid)\.?$/i.test(host)) return Promise.resolve([]);
  return Promise.race([resolve(host), setTimeout(RESOLVE_WAIT_MS, [], { ref: false })]);
}

/** Like other programs on this machine, including the hosts file. */
async function resolveBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

const FEED_HINT = 'To fetch from your own network, allow it with --feeds-allow-private; a feed also needs --private';

function check(host: string, address: string, { allowed, allowHint = FEED_HINT }: Guard): void {
  const kind = kindOf(address, allowed);
  if (kind === null) return;
  throw new AppError('forbidden', `${subjectOf(host, address)} a blocked address (${kind}). ${allowHint}`);
}

/** The beginning of a sentence about the address of a host. */
export function subjectOf(host: string, address: string): string {
  return host === address ? `${host} is` : `${host} is at ${address}, which is`;
}

/** An address that `parseIp` does not accept, such as one with a zone, is refused. */
function kindOf(address: string, allowed: readonly IpRange[]): string | null {
  const ip = parseIp(address);
  return ip === null ? 'unreadable' : refusedKind(ip, allowed);
}

function embeddedIpv4(ip: Uint8Array): Uint8Array {
  return ipv4Key(new DataView(ip.buffer, ip.byteOffset).getUint32(12));
}

function rangesOf(cidr: string): readonly IpRange[] {
  const parsed = parseNetwork(cidr);
  if (!parsed.ok) throw new Error(`not a network: ${cidr}`);
  return parsed.network.ranges;
}
