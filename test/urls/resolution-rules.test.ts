import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostAddress, mergeResolution } from '../../src/urls/resolution-rules.ts';
import { RESOLUTION_VECTORS } from '../vectors/resolutions.ts';

for (const { name, old, given, merged, isChanged } of RESOLUTION_VECTORS) {
  test(`mergeResolution: ${name}`, () => {
    assert.deepEqual(mergeResolution(old, given), { ...merged, isChanged });
  });
}

test('hostAddress is null for a host name', () => {
  assert.deepEqual([...(hostAddress('http://192.0.2.1:8080/x') ?? [])].slice(-4), [192, 0, 2, 1]);
  assert.equal(hostAddress('http://a.example/'), null);
});
