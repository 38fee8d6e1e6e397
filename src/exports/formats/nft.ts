import { formatKeyNetwork, isIpv4Network, type KeyNetwork, parseKeyNetwork } from '../../core/ip/key-network.ts';
import { coalesce } from '../../core/ip/network-set.ts';
import { type Format, TEXT_FORMAT } from './format.ts';
import { listName, networkKey } from './values.ts';

const TABLE = 'inet urlwarden';

/** `nft -f` applies a file in one transaction: loading it again replaces the content of the sets, and rules that use them stay. */
export const NFT: Format = {
  ...TEXT_FORMAT,
  name: 'nft',
  summary: 'nftables: a script with one set of IPv4 and one of IPv6 networks',
  addresses: {
    key: networkKey,
    lines(keys, { name }) {
      const networks = [...keys].map(parseKeyNetwork).filter((network) => network !== null);
      const [ipv4 = [], ipv6 = []] = [true, false].map((isIpv4) =>
        coalesced(networks.filter((network) => isIpv4Network(network) === isIpv4)),
      );
      return [
        `add table ${TABLE}`,
        ...setLines(setName('ipv4', name), 'ipv4_addr', ipv4),
        ...setLines(setName('ipv6', name), 'ipv6_addr', ipv6),
      ];
    },
  },
};

/** A name that begins with a letter and contains no hyphen is valid everywhere in nftables. */
const setName = (family: string, list: string): string => `${family}_${listName(list).replaceAll('-', '_')}`;

function setLines(set: string, type: string, networks: readonly KeyNetwork[]): string[] {
  const lines = [`add set ${TABLE} ${set} { type ${type}; flags interval; }`, `flush set ${TABLE} ${set}`];
  if (networks.length === 0) return lines;
  const elements = networks.map((network) => `    ${formatKeyNetwork(network)},`);
  return [...lines, `add element ${TABLE} ${set} {`, ...elements, '}'];
}

/** nftables refuses networks that overlap. */
export function coalesced(networks: readonly KeyNetwork[]): KeyNetwork[] {
  // The network of all of IPv4 is no entry.
  return coalesce(networks, (parent) => networkKey({ network: parent }) !== null);
}
