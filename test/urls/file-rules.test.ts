import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  comparePayloads,
  type DetailColumns,
  detailsOf,
  type FileColumns,
  fileKey,
  fillFile,
  isNewerPayload,
  ownDetails,
  type ServedFile,
  sha256OfKey,
} from '../../src/urls/file-rules.ts';

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

const NONE: DetailColumns = [null, null, null, null, null];
const file = (familyId: number | null, ...details: DetailColumns): FileColumns => ({ familyId, details });

const FILLS: { name: string; stored: FileColumns; given: FileColumns; after: FileColumns; isChanged: boolean }[] = [
  {
    name: 'nothing stored, nothing given',
    stored: file(null, ...NONE),
    given: file(null, ...NONE),
    after: file(null, ...NONE),
    isChanged: false,
  },
  {
    name: 'the first details',
    stored: file(null, ...NONE),
    given: file(null, 'a/b', null, 'sh', 0, 'x.sh'),
    after: file(null, 'a/b', null, 'sh', 0, 'x.sh'),
    isChanged: true,
  },
  {
    name: 'only the family',
    stored: file(null, 'a/b', null, null, 7, null),
    given: file(3, ...NONE),
    after: file(3, 'a/b', null, null, 7, null),
    isChanged: true,
  },
  {
    name: 'the first value stays',
    stored: file(1, 'a/b', null, null, 0, null),
    given: file(2, 'c/d', null, null, 9, null),
    after: file(1, 'a/b', null, null, 0, null),
    isChanged: false,
  },
  {
    name: 'only missing values are filled in',
    stored: file(1, 'a/b', null, null, null, null),
    given: file(2, 'c/d', null, null, 9, null),
    after: file(1, 'a/b', null, null, 9, null),
    isChanged: true,
  },
];

for (const { name, stored, given, after, isChanged } of FILLS) {
  test(`fillFile: ${name}`, () => assert.deepEqual(fillFile(stored, given), { ...after, isChanged }));
}

test('a payload stores the details that differ from its file', () => {
  assert.deepEqual(ownDetails(['a/b', 'x', null, 7, 'n'], ['a/b', 'y', 'sh', 8, 'n']), [null, 'x', null, 7, null]);
});

test('the details are in the order of the columns', () => {
  const details = { mimeType: 'm', fileType: 't', fileExt: 'e', fileSize: 1, fileName: 'n', family: 'f' };
  assert.deepEqual(detailsOf(details), ['m', 't', 'e', 1, 'n']);
});

test('the key of a file is its SHA-256, or a hash of 16 bytes of its details', () => {
  const details = { mimeType: 'm', fileType: 't', fileExt: 'e', fileSize: 1, fileName: 'n', family: 'f' };
  const key = fileKey({ ...details, sha256: 'ab'.repeat(32) });
  assert.deepEqual(key, Buffer.alloc(32, 0xab));
  assert.equal(sha256OfKey(key), 'ab'.repeat(32));
  const ownKey = fileKey({ ...details, sha256: null });
  assert.equal(Buffer.from(ownKey).toString('hex'), '46303798cd04c28378fa7fdcea25056d');
  assert.notDeepEqual(fileKey({ ...details, family: null, sha256: null }), ownKey);
  assert.deepEqual([sha256OfKey(ownKey), sha256OfKey(null)], [null, null]);
});
