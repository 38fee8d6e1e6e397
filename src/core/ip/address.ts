/**
 * Every store and index holds an address as a key of sixteen bytes that sorts like the address itself.
 * IPv4 is stored as IPv4-mapped IPv6 (RFC 4291 section 2.5.5.2): 192.0.2.1 is ::ffff:192.0.2.1, bytes
 * 00 00 00 00 00 00 00 00 00 00 ff ff c0 00 02 01. By rule C5 both texts are the same address, so no information is lost.
 *
 * `net.isIP` is not used, because it accepts zone ids (`fe80::1%eth0`).
 */

export const IP_BYTES = 16;
const GROUPS = 8;
/** `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255` */
const IPV6_TEXT_MAX_LENGTH = 45;

const ZERO = 0x30;
const DOT = 0x2e;
const NO_OCTET = -1;

const GROUP = /^[0-9A-Fa-f]{1,4}$/;

/** IPv4 or IPv6; null if the text is not exactly one address. */
export function parseIp(text: string): Uint8Array | null {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

/** Rule C2: exactly four decimal octets. Accepts `192.0.2.1`; rejects `127.1`, `0x7f.0.0.1`, `192.0.2.01`. */
export function parseIpv4(text: string): Uint8Array | null {
  const bits = parseIpv4Bits(text);
  return bits === null ? null : ipv4Key(bits);
}

/** Rule C3, RFC 4291 section 2.2: `2001:db8::1`, `::ffff:192.0.2.1`. No zone id, no brackets. */
export function parseIpv6(text: string): Uint8Array | null {
  if (text.length > IPV6_TEXT_MAX_LENGTH) return null;
  const [left = '', right, surplus] = text.split('::');
  if (surplus !== undefined) return null;
  const head = parseGroups(left, right === undefined);
  const tail = parseGroups(right ?? '', true);
  if (head === null || tail === null) return null;
  const missing = GROUPS - head.length - tail.length;
  // `::` replaces at least one group of zeros; without it all eight groups are required.
  if (right === undefined ? missing !== 0 : missing < 1) return null;
  return groupsKey([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

/** The key of an IPv4 address given as an unsigned 32-bit number. */
export function ipv4Key(bits: number): Uint8Array {
  const key = new Uint8Array(IP_BYTES);
  key[10] = 0xff;
  key[11] = 0xff;
  key[12] = bits >>> 24;
  key[13] = bits >>> 16;
  key[14] = bits >>> 8;
  key[15] = bits;
  return key;
}

/** Whether the key is in ::ffff:0:0/96, which holds only IPv4 addresses. */
export function isIpv4(key: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (key[i] !== 0) return false;
  return key[10] === 0xff && key[11] === 0xff;
}

/** The address as text in the API: dotted for IPv4, RFC 5952 for IPv6. */
export function formatIp(key: Uint8Array): string {
  return isIpv4(key) ? `${key[12]}.${key[13]}.${key[14]}.${key[15]}` : formatIpv6(key);
}

/**
 * RFC 5952, always hexadecimal: lower case, no leading zeros, the first of the longest runs of two or more zero
 * groups as `::`. A URL keeps its IPv4-mapped host in this form (rule N10): ::ffff:192.0.2.1 is `::ffff:c000:201`.
 */
export function formatIpv6(key: Uint8Array): string {
  const groups = keyGroups(key);
  const run = longestZeroRun(groups);
  const text = (from: number, to: number) =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  if (run.length < 2) return text(0, GROUPS);
  return `${text(0, run.start)}::${text(run.start + run.length, GROUPS)}`;
}

/** A hand-written single pass, because three of four hosts in the data have this form. */
function parseIpv4Bits(text: string): number | null {
  let bits = 0;
  let dots = 0;
  let octet = NO_OCTET;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (octet === NO_OCTET || ++dots > 3) return null;
      bits = bits * 256 + octet;
      octet = NO_OCTET;
    } else {
      octet = appendDigit(octet, code - ZERO);
      if (octet === NO_OCTET) return null;
    }
  }
  return dots === 3 && octet !== NO_OCTET ? bits * 256 + octet : null;
}

/** No leading zeros: some programs read 010 as eight, others as ten (RFC 6943 section 3.1.1). */
function appendDigit(octet: number, digit: number): number {
  if (digit < 0 || digit > 9 || octet === 0) return NO_OCTET;
  const value = octet === NO_OCTET ? digit : octet * 10 + digit;
  return value <= 255 ? value : NO_OCTET;
}

/** The groups on one side of `::`. Only the end of an address may be a dotted quad. */
function parseGroups(text: string, mayEndDotted: boolean): number[] | null {
  if (text === '') return [];
  const groups: number[] = [];
  const pieces = text.split(':');
  const last = pieces.pop() ?? '';
  for (const piece of pieces) {
    if (!GROUP.test(piece)) return null;
    groups.push(Number.parseInt(piece, 16));
  }
  if (GROUP.test(last)) return [...groups, Number.parseInt(last, 16)];
  const bits = mayEndDotted ? parseIpv4Bits(last) : null;
  return bits === null ? null : [...groups, bits >>> 16, bits & 0xffff];
}

function groupsKey(groups: readonly number[]): Uint8Array {
  const key = new Uint8Array(IP_BYTES);
  for (const [i, group] of groups.entries()) {
    key[2 * i] = group >>> 8;
    key[2 * i + 1] = group;
  }
  return key;
}

function keyGroups(key: Uint8Array): number[] {
  const groups: number[] = [];
  for (let i = 0; i < IP_BYTES; i += 2) groups.push((key[i] ?? 0) * 256 + (key[i + 1] ?? 0));
  return groups;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let length = 0;
  for (const [i, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { start: i + 1 - length, length };
  }
  return longest;
}
