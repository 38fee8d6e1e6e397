import { parse } from 'tldts';
import { parseIp, parseIpv4 } from './ip/address.ts';
import { parseHostKey } from './url/host.ts';

/**
 * A name and the registrable domain that it belongs to: one label below a public suffix, ICANN or private.
 *
 *     www.example.co.uk    example.co.uk
 *     user.github.io       user.github.io: github.io is a public suffix
 *     a.b.unknown          b.unknown: an unknown top-level name follows the rule `*`
 */
export type DomainName = { hostname: string; domain: string };

type ParsedName = { ok: true; name: DomainName } | { ok: false; reason: 'not_a_name' | 'address' | 'suffix' };

const OPTIONS = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false };

/** `text` may be Unicode or `xn--`, in any case, with a trailing dot. */
export function parseDomainName(text: string): ParsedName {
  const host = parseHostKey(text);
  if (!host.ok) return { ok: false, reason: 'not_a_name' };
  if (host.ip !== null) return { ok: false, reason: 'address' };
  const domain = registrableDomain(host.host);
  return domain === null ? { ok: false, reason: 'suffix' } : { ok: true, name: { hostname: host.host, domain } };
}

/** The registrable domain of a normalized host name; null for a public suffix. */
export function registrableDomain(hostname: string): string | null {
  return parse(hostname, OPTIONS).domain;
}

/** A host of a URL: the address that it is, or the registrable domain that it belongs to. Both are null for a public suffix. */
export function hostParts(host: string): { domain: string | null; ip: Uint8Array | null } {
  const ip = host.startsWith('[') ? parseIp(host.slice(1, -1)) : parseIpv4(host);
  return { domain: ip === null ? registrableDomain(host) : null, ip };
}
