import { formatIp, isIpv4, parseIp } from '../core/ip.ts';

const NETWORK_BYTES = 8;
/** Whatever has no address shares one, so that an invented text is no way around the limits. */
const NO_ADDRESS = 'none';

/**
 * What failed logins are counted by. An IPv6 customer has a /64 and changes addresses within it at will, so the network
 * counts: 2001:db8::1 is `2001:db8::`. IPv4 counts by address, also when written as ::ffff:192.0.2.1.
 */
export function addressKey(address: string): string {
  const [withoutZone = ''] = address.split('%');
  const key = parseIp(withoutZone);
  if (key === null) return NO_ADDRESS;
  return formatIp(isIpv4(key) ? key : key.fill(0, NETWORK_BYTES));
}
