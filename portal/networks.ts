import { parseNetwork } from '../src/core/ip/network.ts';
import { hasPage, networkTarget } from './query.ts';

/** Networks around an address: what a customer, a site and a provider often have. */
const AROUND = { 4: [28, 24, 16], 6: [64, 56, 48] } as const;

export type Around = { cidr: string; cost: number; path: string; hasPage: boolean };

/** The usual networks that contain an address or a network, and are wider. */
export function networksAround(cidr: string): Around[] {
  const [ip = '', mask] = cidr.split('/');
  const own = mask === undefined ? Number.POSITIVE_INFINITY : Number(mask);
  return AROUND[ip.includes(':') ? 6 : 4].filter((prefix) => prefix < own).flatMap((prefix) => around(ip, prefix));
}

function around(ip: string, prefix: number): Around[] {
  const parsed = parseNetwork(`${ip}/${prefix}`);
  if (!parsed.ok) return [];
  const { canonical: cidr, cost } = parsed.network;
  return [{ cidr, cost, path: networkTarget(cidr), hasPage: hasPage(cidr) }];
}
