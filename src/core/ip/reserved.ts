import { type KeyNetwork, parseKeyNetwork } from './key-network.ts';
import { createFamilySets, type NetworkSet } from './network-set.ts';

/**
 * The special-purpose registries of IANA (RFC 6890): private, documentation, multicast and other networks that nobody can
 * own. https://www.iana.org/assignments/iana-ipv4-special-registry, …/iana-ipv6-special-registry
 */
export const RESERVED: NetworkSet = createFamilySets(
  [
    '0.0.0.0/8', // this network
    '10.0.0.0/8', // private
    '100.64.0.0/10', // carrier-grade NAT
    '127.0.0.0/8', // loopback
    '169.254.0.0/16', // link-local
    '172.16.0.0/12', // private
    '192.0.0.0/24', // protocol assignments
    '192.0.2.0/24', // documentation
    '192.88.99.0/24', // former 6to4 relays
    '192.168.0.0/16', // private
    '198.18.0.0/15', // benchmarking
    '198.51.100.0/24', // documentation
    '203.0.113.0/24', // documentation
    '224.0.0.0/4', // multicast
    '240.0.0.0/4', // reserved, with the broadcast address
    '2001::/23', // protocol assignments, with Teredo
    '2001:db8::/32', // documentation
    '2002::/16', // 6to4
    '3fff::/20', // documentation
    // All but 2000::/3, the part of IPv6 that is assigned to networks (RFC 4291 section 2.4).
    '::/3',
    '4000::/2',
    '8000::/1',
  ].map(required),
);

/** Whether all of a network is in reserved ranges. */
export function isReserved(network: KeyNetwork): boolean {
  return RESERVED.covers(network);
}

function required(text: string): KeyNetwork {
  const network = parseKeyNetwork(text);
  if (network === null) throw new Error(`not a network: ${text}`);
  return network;
}
