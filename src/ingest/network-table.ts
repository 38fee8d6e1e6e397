import { readFileSync } from 'node:fs';
import { AppError, badRequest } from '../core/errors.ts';
import { IP_BYTES, isIpv4 } from '../core/ip/address.ts';
import { collectNames, type NameCollector, type NetworkNames } from './network-names.ts';

/**
 * Address ranges sorted by start. An address belongs to the last range that starts at or before it, or to none.
 * Typed arrays: 412,000 IPv4 ranges and 103,000 IPv6 ranges take 8.7 MB.
 */
type NetworkTable = {
  /** 32-bit words per address: 1 for IPv4, 4 for IPv6. */
  words: 1 | 4;
  starts: Uint32Array;
  ends: Uint32Array;
  asns: Uint32Array;
};

/** The npm data set. It can be sent to another thread. */
export type NetworkTables = { ipv4: NetworkTable; ipv6: NetworkTable; names: NetworkNames };

export function readTables([ipv4File, ipv6File]: [ipv4: string, ipv6: string]): NetworkTables {
  const collector = collectNames();
  const ipv4 = readNetworkTable(ipv4File, 1, collector);
  const ipv6 = readNetworkTable(ipv6File, 4, collector);
  return { ipv4, ipv6, names: collector.finish() };
}

const LINE_FEED = 0x0a;
const COMMA = 0x2c;
const ZERO = 0x30;
const UNREADABLE = -1;

/** Reads lines `start,end,asn,name` with addresses as decimal numbers. */
function readNetworkTable(file: string, words: 1 | 4, names: NameCollector): NetworkTable {
  const bytes = readTable(file);
  const count = countLines(bytes);
  const starts = new Uint32Array(count * words);
  const ends = new Uint32Array(count * words);
  const asns = new Uint32Array(count);
  let at = 0;
  for (let line = 0; line < count; line++) {
    at = readDecimal(bytes, at, starts, line, words);
    at = readDecimal(bytes, at, ends, line, words);
    at = readDecimal(bytes, at, asns, line, 1);
    if (at === UNREADABLE) throw unreadable(file, line);
    if (!isInOrder(starts, ends, line, words)) throw unsorted(file, line);
    const end = bytes.indexOf(LINE_FEED, at);
    names.add(asns[line] as number, bytes.subarray(at, end === -1 ? bytes.length : end));
    at = end + 1;
  }
  return { words, starts, ends, asns };
}

/** AS number 0 marks a range that is not routed. */
export function tableAsn({ words, starts, ends, asns }: NetworkTable, key: Uint32Array): number | null {
  let low = 0;
  let high = asns.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(starts, middle, key, 0, words) <= 0) low = middle + 1;
    else high = middle;
  }
  if (low === 0 || compare(key, 0, ends, low - 1, words) > 0) return null;
  return asns[low - 1] || null;
}

/** Converts an address key (`core/ip/address.ts`) to 32-bit words. */
export function keyWords(ip: Uint8Array): Uint32Array {
  const view = new DataView(ip.buffer, ip.byteOffset, IP_BYTES);
  if (isIpv4(ip)) return Uint32Array.of(view.getUint32(12));
  return Uint32Array.of(view.getUint32(0), view.getUint32(4), view.getUint32(8), view.getUint32(12));
}

function readTable(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new AppError('unavailable', `${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function countLines(bytes: Buffer): number {
  let count = bytes.length > 0 && bytes.at(-1) !== LINE_FEED ? 1 : 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count++;
  return count;
}

/**
 * Reads a number and the comma after it into the words at `index`, and returns the next position. Digit by digit:
 * BigInt made the server start a second slower.
 */
function readDecimal(bytes: Buffer, from: number, array: Uint32Array, index: number, words: number): number {
  if (from === UNREADABLE) return UNREADABLE;
  const first = index * words;
  let at = from;
  for (; bytes[at] !== COMMA; at++) {
    let carry = (bytes[at] ?? LINE_FEED) - ZERO;
    if (!(carry >= 0 && carry <= 9)) return UNREADABLE;
    for (let i = first + words - 1; i >= first; i--) {
      const value = (array[i] as number) * 10 + carry;
      array[i] = value; // keeps the lower 32 bits
      carry = Math.floor(value / 2 ** 32);
    }
    if (carry > 0) return UNREADABLE;
  }
  return at === from ? UNREADABLE : at + 1;
}

/** Ranges in real data overlap, so an end is not compared with the next start. */
function isInOrder(starts: Uint32Array, ends: Uint32Array, index: number, words: number): boolean {
  if (compare(starts, index, ends, index, words) > 0) return false;
  return index === 0 || compare(starts, index - 1, starts, index, words) < 0;
}

function compare(a: Uint32Array, aIndex: number, b: Uint32Array, bIndex: number, words: number): number {
  for (let i = 0; i < words; i++) {
    const difference = (a[aIndex * words + i] as number) - (b[bIndex * words + i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

function unreadable(file: string, index: number): AppError {
  return badRequest(`${file}: line ${index + 1} must be start,end,asn,name with addresses as decimal numbers`);
}

function unsorted(file: string, index: number): AppError {
  return badRequest(
    `${file}: line ${index + 1} is out of order: ranges must be sorted by start, and end at or after their start`,
  );
}
