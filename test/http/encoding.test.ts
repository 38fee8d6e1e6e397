import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptsIdentity, bestEncoding, createCompressor, type Encoding } from '../../src/http/encoding.ts';

const ACCEPTED: [header: string | undefined, best: Encoding, acceptsIdentity: boolean][] = [
  [undefined, 'identity', true],
  ['', 'identity', true],
  ['br', 'identity', true],
  ['gzip', 'gzip', true],
  ['gzip, deflate, br, zstd', 'zstd', true],
  ['*', 'zstd', true],
  ['gzip;q=1.0, zstd;q=0.5', 'gzip', true],
  ['gzip, zstd;q=1', 'zstd', true],
  ['GZIP ; Q=0.5, zstd;q=0', 'gzip', true],
  ['gzip;q=0.001', 'gzip', true],
  ['gzip;q=0', 'identity', true],
  ['gzip;q=0.000, *;q=0.1', 'zstd', true],
  ['gzip;q=0.5, identity', 'identity', true],
  ['gzip, identity', 'gzip', true],
  ['gzip, identity;q=0', 'gzip', false],
  ['*;q=0, gzip', 'gzip', false],
  ['br, identity;q=0', 'identity', false],
  ['gzip;q=x', 'identity', true],
  [',;=,', 'identity', true],
];

test('of the encodings that a client wants most, zstd is used before gzip', () => {
  for (const [header, best, isAccepted] of ACCEPTED) {
    assert.deepEqual([bestEncoding(header), acceptsIdentity(header)], [best, isAccepted], header);
  }
});

for (const encoding of ['gzip', 'zstd'] as const) {
  test(`a compressor of ${encoding} can be closed while it works`, async () => {
    const compressor = createCompressor(encoding);
    const first = await compressor.add('x'.repeat(100_000));
    assert.ok(first.length > 0 && first.length < 1_000);
    void compressor.add('y'.repeat(100_000)).catch(() => {});
    compressor.close();
  });
}
