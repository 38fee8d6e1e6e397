import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sliceToByteText } from '../../src/core/byte-text.ts';
import { packGroups, unpackGroups } from '../../src/urls/packed-groups.ts';
import { groupByUrl } from '../../src/urls/url-group.ts';
import { hashOf, NEW_YEAR, seen } from './contract/observations.ts';

const T = NEW_YEAR;

test('a batch is the same after it was sent to the writer thread', () => {
  const groups = groupByUrl([
    seen({ ts: T, url: 'http://a.example/', reporter: 'ada', payload: { sha256: hashOf('a'), family: 'Mirai' } }),
    seen({ ts: T + 1, url: 'http://a.example/', status: 'removed', removal: 'abuse', ip: '192.0.2.1', asn: 64_500 }),
    seen({ ts: T + 2, url: 'http://b.example/', status: null, ip: '2001:db8::ff' }),
    seen({ ts: T + 3, url: 'http://255.254.253.252/' }),
    seen({ ts: T + 4, url: 'http://c.example/', tags: ['elf', 'ada', 'mirai'] }),
    seen({ ts: T + 5, url: 'http://c.example/', payload: { fileName: 'a.exe', fileSize: 1, mimeType: 'a/b' } }),
  ]);
  assert.deepEqual([...unpackGroups(structuredClone(packGroups(groups)), sliceToByteText)], groups);
  assert.deepEqual([...unpackGroups(packGroups([]), sliceToByteText)], []);
});
