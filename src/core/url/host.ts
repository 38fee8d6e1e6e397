import { formatIp, formatIpv6, ipv4Key, parseIpv4, parseIpv6 } from '../ip/address.ts';
import { nameToAscii } from './idna.ts';

/** `host` as it stands in a normalized URL (IPv6 in brackets); `ip` when it is an address, IPv4-mapped as IPv4. */
export type NormalizedHost = { ok: true; host: string; ip: Uint8Array | null } | { ok: false };

/** RFC 1035 section 2.3.4, as text without the trailing dot. */
const NAME_MAX_LENGTH = 253;
const LABEL_MAX_LENGTH = 63;

const NON_ASCII = /\P{ASCII}/u;
/**
 * RFC 3986 would let `!$&'()*+,;=~` into a name. No resolver does, and the defanged `a(.)example` would become a host.
 * The underscore stays: such names resolve.
 */
const NAME = /^[a-z0-9._-]+$/;

const REFUSED = { ok: false } as const;

/** Rules N7 to N10: the host of a URL, without credentials and port. */
export function normalizeHost(raw: string): NormalizedHost {
  return raw.startsWith('[') ? bracketedHost(raw) : namedHost(raw);
}

/**
 * The search key `host`: what may stand in a URL as host, and IPv6 also without brackets. A scheme, port, path or `@`
 * needs no check of its own, because a name has none of `: / ? # @`, written plainly or as an escape.
 */
export function parseHostKey(text: string): NormalizedHost {
  return text.includes(':') && !text.startsWith('[') ? bracketedHost(`[${text}]`) : normalizeHost(text);
}

/**
 * Rule N7: escapes decoded once, as strict UTF-8; then ASCII is only lower-cased, its `xn--` labels unjudged, and any
 * other name goes through IDNA. `%45x.EXAMPLE` is `ex.example`, `%C3%A9.example` is `xn--9ca.example`, `%E9` is refused.
 */
export function asciiName(raw: string): string | null {
  const name = raw.includes('%') ? decodeName(raw) : raw;
  if (name === null) return null;
  return NON_ASCII.test(name) ? nameToAscii(name) : name.toLowerCase();
}

/** decodeURIComponent is strict about UTF-8; that it also throws at a stray `%` is right, since no host has one. */
export function decodeName(raw: string): string | null {
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

function namedHost(raw: string): NormalizedHost {
  // Three of four URLs that spread malware name their host by a dotted quad, which is its own normal form.
  const quad = parseIpv4(raw);
  if (quad !== null) return { ok: true, host: raw, ip: quad };
  const ascii = asciiName(raw);
  if (ascii === null) return REFUSED;
  const name = withoutTrailingDot(ascii);
  if (!isName(name)) return REFUSED;
  if (!endsInNumber(name)) return { ok: true, host: name, ip: null };
  const bits = parseIpv4Number(name);
  if (bits === null) return REFUSED;
  const ip = ipv4Key(bits);
  return { ok: true, host: formatIp(ip), ip };
}

/** Rule N10. `[::ffff:192.0.2.1]` stays IPv6 in the URL, but its key is that of 192.0.2.1. */
function bracketedHost(raw: string): NormalizedHost {
  const ip = raw.endsWith(']') ? parseIpv6(raw.slice(1, -1)) : null;
  return ip === null ? REFUSED : { ok: true, host: `[${formatIpv6(ip)}]`, ip };
}

/** RFC 1034 section 3.1: the dot at the end is the root, the name is the same. One dot: `a..` has an empty label. */
export function withoutTrailingDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

function isName(name: string): boolean {
  if (name.length > NAME_MAX_LENGTH || !NAME.test(name)) return false;
  let start = 0;
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', start)) {
    if (!isLabelLength(dot - start)) return false;
    start = dot + 1;
  }
  return isLabelLength(name.length - start);
}

function isLabelLength(length: number): boolean {
  return length > 0 && length <= LABEL_MAX_LENGTH;
}

/**
 * The number forms of IPv4 in a URL's host (rule N9), which browsers, curl and inet_aton all dial:
 * https://url.spec.whatwg.org/#concept-ipv4-parser. The search key `ip` does not take them (rule C2).
 */

/** `0x` alone is a number too: zero. */
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;
const OCTAL = /^[0-7]*$/;

const PARTS_MAX = 4;

/** A name that ends in a number can only be an address: no top-level domain is one. Expects lower case. */
export function endsInNumber(name: string): boolean {
  return NUMBER.test(name.slice(name.lastIndexOf('.') + 1));
}

/**
 * The address as an unsigned 32-bit number. The last part fills the bytes that the others leave:
 * `127.1` is 127.0.0.1, `0x7f.0.0.1` too, `2130706433` too; `192.168.257` is 192.168.1.1.
 */
export function parseIpv4Number(name: string): number | null {
  const parts = name.split('.', PARTS_MAX + 1);
  if (parts.length > PARTS_MAX) return null;
  let high = 0;
  for (const part of parts.slice(0, -1)) {
    const value = parsePart(part);
    if (value === null || value > 255) return null;
    high = high * 256 + value;
  }
  const free = 256 ** (PARTS_MAX + 1 - parts.length);
  const low = parsePart(parts.at(-1) ?? '');
  return low === null || low >= free ? null : high * free + low;
}

/** Digits beyond 2^53 round, but never to something that fits into an address. */
function parsePart(part: string): number | null {
  if (!NUMBER.test(part)) return null;
  if (part.startsWith('0x')) return part === '0x' ? 0 : Number.parseInt(part.slice(2), 16);
  if (!part.startsWith('0')) return Number(part);
  return OCTAL.test(part) ? Number.parseInt(part, 8) : null;
}
