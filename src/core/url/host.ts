import { formatIp, formatIpv6, ipv4Key, parseIpv4, parseIpv6 } from '../ip/address.ts';
import { percentDecoded } from '../text.ts';
import { nameToAscii } from './idna.ts';

/** `host` as in a normalized URL (IPv6 in brackets); `ip` is its address key, or null for a name. */
type NormalizedHost = { ok: true; host: string; ip: Uint8Array | null } | { ok: false };

/** RFC 1035 section 2.3.4, for text without the trailing dot. */
const NAME_MAX_LENGTH = 253;
const LABEL_MAX_LENGTH = 63;

const NON_ASCII = /\P{ASCII}/u;
/**
 * RFC 3986 allows `!$&'()*+,;=~` in a name. No resolver does, and the defanged `a(.)example` would become a host.
 * The underscore is allowed, because such names resolve.
 */
const NAME = /^[a-z0-9._-]+$/;

const REFUSED = { ok: false } as const;

/** Rules N7 to N10: the host of a URL, without credentials and port. */
export function normalizeHost(raw: string): NormalizedHost {
  return raw.startsWith('[') ? bracketedHost(raw) : namedHost(raw);
}

/**
 * The search key `host`: any host of a URL, and IPv6 also without brackets. A scheme, port, path or `@` needs no separate
 * check, because a name contains none of `: / ? # @`, literal or escaped.
 */
export function parseHostKey(text: string): NormalizedHost {
  return text.includes(':') && !text.startsWith('[') ? bracketedHost(`[${text}]`) : normalizeHost(text);
}

/**
 * Rule N7: escapes are decoded once, as strict UTF-8. An ASCII name is then only lower-cased; its `xn--` labels are not
 * validated. Any other name is converted by IDNA. `%45x.EXAMPLE` becomes `ex.example`, `%C3%A9.example` becomes
 * `xn--9ca.example`, `%E9` is refused.
 */
export function asciiName(raw: string): string | null {
  const name = raw.includes('%') ? percentDecoded(raw) : raw; // a `%` that begins no escape is in no host
  if (name === null) return null;
  return NON_ASCII.test(name) ? nameToAscii(name) : name.toLowerCase();
}

function namedHost(raw: string): NormalizedHost {
  // In three of four malware URLs the host is a dotted quad, which is already normal.
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

/** Rule N10. `[::ffff:192.0.2.1]` stays IPv6 in the URL, but its key is the key of 192.0.2.1. */
function bracketedHost(raw: string): NormalizedHost {
  const ip = raw.endsWith(']') ? parseIpv6(raw.slice(1, -1)) : null;
  return ip === null ? REFUSED : { ok: true, host: `[${formatIpv6(ip)}]`, ip };
}

/** RFC 1034 section 3.1: a trailing dot is the root; the name is the same. Only one dot: `a..` has an empty label. */
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

// The number forms of IPv4 in the host of a URL (rule N9), which browsers, curl and inet_aton accept:
// https://url.spec.whatwg.org/#concept-ipv4-parser. The search key `ip` does not accept them (rule C2).

/** `0x` without digits is the number zero. */
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;
const OCTAL = /^[0-7]*$/;

const PARTS_MAX = 4;

/** A name that ends in a number must be an address, because no top-level domain is a number. Expects lower case. */
function endsInNumber(name: string): boolean {
  return NUMBER.test(name.slice(name.lastIndexOf('.') + 1));
}

/**
 * The address as an unsigned 32-bit number. The last part fills the remaining bytes:
 * `127.1`, `0x7f.0.0.1` and `2130706433` are 127.0.0.1; `192.168.257` is 192.168.1.1.
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

/** A number above 2^53 is rounded, but never to one small enough for an address. */
function parsePart(part: string): number | null {
  if (!NUMBER.test(part)) return null;
  if (part.startsWith('0x')) return part === '0x' ? 0 : Number.parseInt(part.slice(2), 16);
  if (!part.startsWith('0')) return Number(part);
  return OCTAL.test(part) ? Number.parseInt(part, 8) : null;
}
