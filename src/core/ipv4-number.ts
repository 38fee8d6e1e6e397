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
