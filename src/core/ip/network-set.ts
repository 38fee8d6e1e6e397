import { containsNetwork, isIpv4Network, KEY_BITS, type KeyNetwork, lastAddress, networkAt } from './key-network.ts';
import { compareKeys } from './network.ts';

/** Networks that many others are looked up in. */
export type NetworkSet = {
  /** Whether the networks together contain all of this one. */
  covers(network: KeyNetwork): boolean;
  /** The networks that are inside this one: of nested ones the outermost, and two halves as the network of both. */
  inside(network: KeyNetwork): KeyNetwork[];
};

/**
 * Networks that do not overlap, in order, with the same addresses: two halves are the network of both, if `mayJoin` allows it.
 * All are of one family.
 */
export function coalesce(
  networks: readonly KeyNetwork[],
  mayJoin: (parent: KeyNetwork) => boolean = () => true,
): KeyNetwork[] {
  const result: KeyNetwork[] = [];
  for (const network of networks.toSorted((a, b) => compareKeys(a.ip, b.ip) || a.prefix - b.prefix)) {
    let joined = network;
    let last = result.at(-1);
    if (last !== undefined && containsNetwork(last, joined)) continue;
    while (last !== undefined && last.prefix === joined.prefix) {
      const parent = networkAt(last.ip, last.prefix - 1);
      if (!containsNetwork(parent, joined) || !mayJoin(parent)) break;
      result.pop();
      joined = parent;
      last = result.at(-1);
    }
    result.push(joined);
  }
  return result;
}

/** Coalesced networks are disjoint: the last one that begins before an address decides. */
function createNetworkSet(networks: readonly KeyNetwork[]): NetworkSet {
  const outermost = coalesce(networks);
  const longestPrefix = outermost.reduce((longest, { prefix }) => Math.max(longest, prefix), 0);
  /** How many networks begin before the address, or at it if `isAt`. */
  function countBefore(ip: Uint8Array, isAt: boolean): number {
    let [from, to] = [0, outermost.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const order = compareKeys(outermost[middle]?.ip ?? ip, ip);
      if (order < 0 || (isAt && order === 0)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
  return {
    covers(network) {
      const candidate = outermost[countBefore(network.ip, true) - 1];
      return candidate !== undefined && containsNetwork(candidate, network);
    },
    inside(network) {
      // Most networks are single addresses, and contain none.
      if (network.prefix > longestPrefix) return [];
      const first = countBefore(network.ip, false);
      const last = countBefore(lastAddress(network), true);
      return outermost.slice(first, last).filter((one) => containsNetwork(network, one));
    },
  };
}

/** The same for both families: an IPv6 network around the IPv4 keys contains no IPv4 address. */
export function createFamilySets(networks: readonly KeyNetwork[]): NetworkSet {
  const ipv4 = createNetworkSet(networks.filter(isIpv4Network));
  const ipv6 = createNetworkSet(networks.filter((network) => !isIpv4Network(network)));
  const setOf = (network: KeyNetwork) => (isIpv4Network(network) ? ipv4 : ipv6);
  return {
    covers: (network) => setOf(network).covers(network),
    inside: (network) => setOf(network).inside(network),
  };
}

/** What is left of a network without others that are inside it: at most one network for each bit of each hole. */
export function withoutNetworks(network: KeyNetwork, holes: readonly KeyNetwork[]): KeyNetwork[] {
  if (holes.length === 0) return [network];
  if (network.prefix === KEY_BITS || holes.some(({ prefix }) => prefix <= network.prefix)) return [];
  return halvesOf(network).flatMap((half) =>
    withoutNetworks(
      half,
      holes.filter((hole) => containsNetwork(half, hole)),
    ),
  );
}

function halvesOf({ ip, prefix }: KeyNetwork): [KeyNetwork, KeyNetwork] {
  const second = new Uint8Array(ip);
  second[prefix >>> 3] = (second[prefix >>> 3] ?? 0) | (0x80 >>> (prefix & 7));
  return [
    { ip, prefix: prefix + 1 },
    { ip: second, prefix: prefix + 1 },
  ];
}
