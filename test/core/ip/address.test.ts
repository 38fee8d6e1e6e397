import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatIp, formatIpv6, IP_BYTES, isIpv4, parseIp, parseIpv4, parseIpv6 } from '../../../src/core/ip/address.ts';

/** Keys with many zero groups, which have different short forms, and IPv4 keys. */
const group = fc.oneof(fc.constant(0), fc.constant(0), fc.constant(0xffff), fc.nat(0xffff));
const groups = fc.array(group, { minLength: 8, maxLength: 8 });
const key = fc.oneof(
  groups.map((values) => Uint8Array.from(values.flatMap((value) => [value >>> 8, value & 255]))),
  fc.nat(0xffff_ffff).map((bits) => Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, ...quad(bits))),
);

function quad(bits: number): number[] {
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255);
}

describe('an address', () => {
  it('is unchanged after it is formatted and parsed', () => {
    fc.assert(
      fc.property(key, (bytes) => {
        assert.deepEqual(parseIp(formatIp(bytes)), bytes);
        assert.deepEqual(parseIpv6(formatIpv6(bytes)), bytes);
      }),
      { numRuns: 5_000 },
    );
  });

  it('is parsed from eight padded groups, in either case, and with a dotted end', () => {
    fc.assert(
      fc.property(key, (bytes) => {
        const hex = Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? [];
        const full = hex.join(':');
        const dotted = `${hex.slice(0, 6).join(':')}:${bytes.subarray(12).join('.')}`;
        for (const text of [full, full.toUpperCase(), dotted]) assert.deepEqual(parseIpv6(text), bytes, text);
      }),
    );
  });

  it('is formatted by RFC 5952: no leading zeros, lower case, the first of the longest zero runs as ::', () => {
    fc.assert(
      fc.property(key, (bytes) => {
        const text = formatIpv6(bytes);
        assert.match(text, /^[0-9a-f:]+$/);
        assert.doesNotMatch(text, /(^|:)0[0-9a-f]/);
        assert.equal(text, rfc5952(bytes));
      }),
      { numRuns: 5_000 },
    );
  });

  it('sorts by its bytes in numeric order', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        const [x, y] = [a, b].map((bytes) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)) as [bigint, bigint];
        assert.equal(Math.sign(Buffer.compare(a, b)), x < y ? -1 : x > y ? 1 : 0);
      }),
    );
  });

  it('is IPv4 exactly in ::ffff:0:0/96', () => {
    const kind = (text: string) => {
      const bytes = parseIp(text);
      return bytes === null ? null : [isIpv4(bytes), formatIp(bytes), formatIpv6(bytes)];
    };
    assert.deepEqual(kind('192.0.2.1'), [true, '192.0.2.1', '::ffff:c000:201']);
    assert.deepEqual(kind('::ffff:192.0.2.1'), [true, '192.0.2.1', '::ffff:c000:201']);
    assert.deepEqual(kind('::192.0.2.1'), [false, '::c000:201', '::c000:201']);
    assert.deepEqual(kind('::fffe:ffff:ffff'), [false, '::fffe:ffff:ffff', '::fffe:ffff:ffff']);
    assert.deepEqual(kind('::1:0:0:0'), [false, '::1:0:0:0', '::1:0:0:0']);
    assert.deepEqual(kind('1::ffff:192.0.2.1'), [false, '1::ffff:c000:201', '1::ffff:c000:201']);
    assert.deepEqual(kind('100::ffff:192.0.2.1'), [false, '100::ffff:c000:201', '100::ffff:c000:201']);
    assert.deepEqual(kind('::ff:192.0.2.1'), [false, '::ff:c000:201', '::ff:c000:201']);
    assert.deepEqual(kind('::ff00:192.0.2.1'), [false, '::ff00:c000:201', '::ff00:c000:201']);
  });

  it('accepts digits only, not their neighbours in ASCII', () => {
    for (const text of ['1/.0.2.1', '1:.0.2.1', '192.0.2.1/', '192.0.2.1:']) assert.equal(parseIpv4(text), null, text);
  });

  it('is sixteen bytes or null for any text', () => {
    const alphabet = fc.constantFrom(...'0123456789abcdefABCDEFx.:/%[] -+１');
    fc.assert(
      fc.property(fc.string({ unit: alphabet, maxLength: 20 }), (text) => {
        for (const bytes of [parseIp(text), parseIpv4(text), parseIpv6(text)]) {
          if (bytes !== null) assert.equal(bytes.length, IP_BYTES);
        }
        if (parseIpv4(text) !== null) assert.equal(formatIp(parseIpv4(text) as Uint8Array), text);
      }),
      { numRuns: 20_000 },
    );
  });
});

/** A slow reference: tries every zero run, longest first. */
function rfc5952(bytes: Uint8Array): string {
  const hex = (Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? []).map((text) =>
    Number.parseInt(text, 16).toString(16),
  );
  for (let length = 8; length >= 2; length--) {
    for (let start = 0; start + length <= 8; start++) {
      if (hex.slice(start, start + length).every((text) => text === '0')) {
        return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
      }
    }
  }
  return hex.join(':');
}
