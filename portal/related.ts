import { parseNetwork } from '../src/core/ip/network.ts';
import { hostAddress, type SearchName } from './query.ts';

/** A search that starts from something that a URL has. */
export type Related = { label: string; name: SearchName; value: string; cost: number };

type Subject = {
  /** Null for an unknown URL: its page shows the other URLs on the host without a search. */
  id: number | null;
  host: string;
  addresses: readonly { ip: string; asn: number | null }[];
  payloads: readonly { 'malware-family': string | null; sha256_hash: string | null }[];
};

/** The host, itself as an address or its newest address, the network around that, the AS number, the newest family and file. */
export function relatedOf({ id, host, addresses, payloads }: Subject): Related[] {
  const ip = hostAddress(host);
  const address = addresses[0] ?? (ip === null ? undefined : { ip, asn: null });
  const family = payloads.find((payload) => payload['malware-family'] !== null)?.['malware-family'] ?? null;
  const hash = payloads.find(({ sha256_hash: sha256 }) => sha256 !== null)?.sha256_hash ?? null;
  const list: Related[] = [];
  if (id !== null && ip === null) list.push({ label: 'Same host', name: 'host', value: host, cost: 1 });
  if (address) list.push({ label: 'Same address', name: 'ip', value: address.ip, cost: 1 }, ...around(address.ip));
  if (address?.asn) list.push({ label: `AS${address.asn}`, name: 'asn', value: String(address.asn), cost: 1 });
  if (family !== null) list.push({ label: family, name: 'malware_family', value: family, cost: 1 });
  if (hash !== null) list.push({ label: 'Same file', name: 'sha256', value: hash, cost: 1 });
  return list;
}

/** The /24 around an IPv4 address, the /56 around an IPv6 address: what one customer usually has. */
function around(ip: string): Related[] {
  const parsed = parseNetwork(`${ip}/${ip.includes(':') ? 56 : 24}`);
  if (!parsed.ok) return [];
  const { canonical: value, cost } = parsed.network;
  return [{ label: value, name: 'ip', value, cost }];
}
