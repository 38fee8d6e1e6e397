import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { AppError } from '../../core/errors.ts';
import { ipv4Key, isIpv4, parseIp } from '../../core/ip/address.ts';
import { type IpRange, isInRanges, parseNetwork } from '../../core/ip/network.ts';

/**
 * Which addresses a download may go to. The names in a feed's address and in its redirects are chosen by others, and
 * this server may reach what they cannot: itself, its neighbours, the metadata service of its cloud.
 */
export type Guard = {
  /** Every address of a name, as texts. */
  resolve(host: string): Promise<string[]>;
  /** Of the addresses that are refused otherwise, those that an operator has allowed. */
  allowed: readonly IpRange[];
};

/**
 * The special-purpose registries of IANA (RFC 6890), less what the public internet uses.
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 */
const REFUSED_IPV4: readonly (readonly [cidr: string, what: string])[] = [
  ['0.0.0.0/8', 'this host'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared with the provider'], // RFC 6598; 100.100.100.200 is the metadata service of Alibaba
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16', 'the platform of Azure'], // a public address that every machine there reaches
  ['169.254.0.0/16', 'link-local'], // 169.254.169.254 is the metadata service of most clouds
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'], // 192.0.0.192 is the metadata service of Oracle
  ['192.0.2.0/24', 'for documentation'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'for benchmarks'],
  ['198.51.100.0/24', 'for documentation'],
  ['203.0.113.0/24', 'for documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'], // up to the broadcast address
];

/** Global unicast (RFC 4291 section 2.4) is the only part of IPv6 that the internet uses: the rest is refused whole. */
const GLOBAL_IPV6 = rangesOf('2000::/3');

const REFUSED_IPV6: readonly (readonly [cidr: string, what: string])[] = [
  ['::1', 'loopback'],
  ['fc00::/7', 'private'], // fd00:ec2::254 is the metadata service of Amazon
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
  ['2001::/23', 'reserved'], // Teredo (2001::/32) among others: it wraps an IPv4 address
  ['2001:db8::/32', 'for documentation'],
  ['2002::/16', 'of 6to4'], // wraps an IPv4 address; RFC 7526 has ended its use
  ['3fff::/20', 'for documentation'],
];

const REFUSED = [...REFUSED_IPV4, ...REFUSED_IPV6].map(([cidr, what]) => ({ ranges: rangesOf(cidr), what }));

/** Where there is no IPv4, resolvers make such addresses for every IPv4 host (RFC 6052): they are judged by that. */
const NAT64 = rangesOf('64:ff9b::/96');

/** `networks` are addresses or networks as an operator writes them, such as 10.1.0.0/16. */
export function createGuard(networks: readonly string[], resolve: Guard['resolve'] = resolveBySystem): Guard {
  return { resolve, allowed: networks.flatMap(rangesOf) };
}

/** What kind of address it is that must not be connected to; null when it may. */
export function refusedKind(ip: Uint8Array, allowed: readonly IpRange[]): string | null {
  if (isInRanges(ip, allowed)) return null;
  if (isInRanges(ip, NAT64)) return refusedKind(embeddedIpv4(ip), allowed);
  const refused = REFUSED.find(({ ranges }) => isInRanges(ip, ranges));
  if (refused !== undefined) return refused.what;
  return isIpv4(ip) || isInRanges(ip, GLOBAL_IPV6) ? null : 'reserved';
}

/** Node looks up no address that is written out, so those are checked here, before a request. */
export function checkLiteral(host: string, { allowed }: Guard): void {
  if (isIP(host) !== 0) check(host, host, allowed);
}

/**
 * For `http.request`: the addresses that it hands to the socket are the ones that were checked. To check first and to
 * let Node look up again would let a name answer differently the second time (DNS rebinding).
 */
export function guardedLookup({ resolve, allowed }: Guard): LookupFunction {
  return (host, options, done) => {
    const found = resolve(host).then((addresses) => {
      if (addresses.length === 0) throw new AppError('unavailable', `${host} has no address`);
      for (const address of addresses) check(host, address, allowed);
      return addresses.map((address) => ({ address, family: isIP(address) }));
    });
    found.then(
      (all) => (options.all ? done(null, all) : done(null, all[0]?.address ?? '', all[0]?.family)),
      (error) => done(error, ''),
    );
  };
}

/** As every other program of this machine finds it: the hosts file included. */
async function resolveBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** What is no address to us, such as one with a zone, is none to connect to. */
function check(host: string, address: string, allowed: readonly IpRange[]): void {
  const ip = parseIp(address);
  const kind = ip === null ? 'unreadable' : refusedKind(ip, allowed);
  if (kind === null) return;
  const which = host === address ? `${host} is` : `${host} is at ${address}, which is`;
  throw new AppError(
    'forbidden',
    `${which} an address that nothing is fetched from (${kind}); for a mirror of your own see --feeds-allow-private`,
  );
}

function embeddedIpv4(ip: Uint8Array): Uint8Array {
  return ipv4Key(new DataView(ip.buffer, ip.byteOffset).getUint32(12));
}

function rangesOf(cidr: string): readonly IpRange[] {
  const parsed = parseNetwork(cidr);
  if (!parsed.ok) throw new Error(`not a network: ${cidr}`);
  return parsed.network.ranges;
}
