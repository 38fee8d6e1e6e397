import assert from 'node:assert/strict';
import { isIpv4 } from '../../src/core/ip/address.ts';
import { parseNetwork } from '../../src/core/ip/network.ts';

/**
 * A minimal writer of MMDB files (https://maxmind.github.io/MaxMind-DB/): a binary tree over the bits of an address, then
 * the records. IPv4 is at ::/96.
 */
export function mmdbOf(networks: Record<string, Record<string, string | number>>): Buffer {
  const data: Buffer[] = [];
  const nodes: [Branch, Branch][] = [[null, null]];
  for (const [cidr, record] of Object.entries(networks)) {
    const offset = data.reduce((sum, { length }) => sum + length, 0);
    data.push(encode(record));
    insert(nodes, bitsOf(cidr), { offset });
  }
  const value = (branch: Branch) => {
    if (branch === null) return nodes.length;
    return typeof branch === 'number' ? branch : nodes.length + SEPARATOR.length + branch.offset;
  };
  const tree = nodes.map(([left, right]) => Buffer.concat([uint(value(left), 3), uint(value(right), 3)]));
  const metadata = {
    node_count: nodes.length,
    record_size: 24,
    ip_version: 6,
    database_type: 'test',
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 0,
  };
  return Buffer.concat([...tree, SEPARATOR, ...data, MARKER, encode(metadata)]);
}

/** Another node, a record, or nothing. */
type Branch = number | { offset: number } | null;

const SEPARATOR = Buffer.alloc(16);
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const [STRING, UINT32, MAP] = [2, 6, 7];

function insert(nodes: [Branch, Branch][], bits: string, record: { offset: number }): void {
  let node = 0;
  for (const bit of bits.slice(0, -1)) {
    const branches = nodes[node] ?? assert.fail();
    const side = Number(bit) as 0 | 1;
    if (typeof branches[side] !== 'number') branches[side] = nodes.push([null, null]) - 1;
    node = branches[side] as number;
  }
  (nodes[node] ?? assert.fail())[Number(bits.at(-1)) as 0 | 1] = record;
}

function bitsOf(cidr: string): string {
  const parsed = parseNetwork(cidr);
  assert.ok(parsed.ok, cidr);
  const [from] = parsed.network.ranges[0] ?? assert.fail();
  const length = Number(cidr.split('/')[1]);
  const key = isIpv4(from) ? Buffer.concat([Buffer.alloc(12), from.subarray(12)]) : from;
  const bits = [...key].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.slice(0, isIpv4(from) ? 96 + length : length);
}

/** A size below 29 fits into the first byte; 29 there means that the rest of the size is in the next byte. */
const LONG = 29;

/** No text is longer than 284 characters. */
function encode(value: string | number | Record<string, string | number>): Buffer {
  if (typeof value === 'string') {
    const isLong = value.length >= LONG;
    const size = isLong ? [(STRING << 5) | LONG, value.length - LONG] : [(STRING << 5) | value.length];
    return Buffer.concat([Buffer.from(size), Buffer.from(value)]);
  }
  if (typeof value === 'number') return Buffer.concat([uint((UINT32 << 5) | 4, 1), uint(value, 4)]);
  const entries = Object.entries(value);
  const pairs = entries.flatMap(([name, inner]) => [encode(name), encode(inner)]);
  return Buffer.concat([uint((MAP << 5) | entries.length, 1), ...pairs]);
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}
