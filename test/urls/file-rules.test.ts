import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparePayloads, isNewerPayload, type ServedFile } from '../../src/urls/file-rules.ts';

const served = (ts: number, ...key: number[]): ServedFile => ({ ts, key: Uint8Array.from(key) });

const OLDEST_FIRST = [served(9, 9, 9), served(10), served(10, 1), served(10, 1, 0), served(10, 2), served(11, 0)];

test('payloads are ordered by time, then by the bytes of the file key', () => {
  assert.deepEqual(OLDEST_FIRST.toReversed().sort(comparePayloads), OLDEST_FIRST);
});

test('a payload becomes the last one if it is newer than the one before', () => {
  for (const [i, payload] of OLDEST_FIRST.entries()) {
    assert.equal(isNewerPayload(payload, null), true);
    for (const [j, last] of OLDEST_FIRST.entries()) assert.equal(isNewerPayload(payload, last), i > j, `${i} ${j}`);
  }
});
