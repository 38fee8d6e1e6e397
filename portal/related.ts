import { parseNetwork } from '../src/core/ip/network.ts';
import type { SearchName } from './query.ts';

/** A search that starts from something that a URL has. */
export type Related = { label: string; name: SearchName; value: string; cost: number };

type Subject = {
  host: string;
  addresses: readonly { ip: string; asn: number | null }[];
  payloads: readonly { 'malware-family': string | null; sha256_hash: string | null }[];
};

/** The host, its newest address, the network around that, the AS number, the newest family and file. */
export function relatedOf({ host, addresses, payloads }: Subject): Related[] {
  const [address] = addresses;
  const family = payloads.find((payload) => payload['malware-family'] !== null)?.['malware-family'] ?? null;
  const hash = payloads.find(({ sha256_hash: sha256 }) => sha256 !== null)?.sha256_hash ?? null;
  const list: Related[] = [];
  if (address?.ip !== host) list.push({ label: 'Same host', name: 'host', value: host, cost: 1 });
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
