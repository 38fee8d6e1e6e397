import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { stix } from '../../../src/ingest/formats/stix.ts';
import { urlsOfPattern } from '../../../src/ingest/formats/stix-objects.ts';
import { AS_OF_TS, inputsOf, readFixture, readText, rejectsOf, ts } from './read-items.ts';

const PATTERNS: [pattern: string, urls: string[] | null][] = [
  ["[url:value = 'http://a.example/']", ['http://a.example/']],
  ["[url:value='http://a.example/']", ['http://a.example/']],
  ["  [ url:value = 'http://a.example/' ]  ", ['http://a.example/']],
  ["[url:value = 'http://a.example/' OR url:value = 'http://b.example/']", ['http://a.example/', 'http://b.example/']],
  [
    "[url:value = 'http://a.example/'] OR [url:value = 'http://b.example/']",
    ['http://a.example/', 'http://b.example/'],
  ],
  ["[url:value = 'http://a.example/' OR file:hashes.'SHA-256' = 'ab']", ['http://a.example/']],
  [String.raw`[url:value = 'http://a.example/it\'s\\']`, [String.raw`http://a.example/it's\ `.trim()]],
  ["[url:value = 'a OR b']", ['a OR b']],
  ["[file:hashes.'SHA-256' = 'ab']", []],
  ["[url:value LIKE 'http://a.example/%']", null],
  ["[url:value != 'http://a.example/']", null],
  ["[NOT url:value = 'http://a.example/']", null],
  ["[url:value = 'http://a.example/' AND file:name = 'b']", null],
  ["[url:value = 'http://a.example/'] AND [file:name = 'b']", null],
  ["[url:value = 'http://a.example/'] FOLLOWEDBY [file:name = 'b']", null],
  ["[url:value = 'http://a.example/'] WITHIN 5 SECONDS", null],
  ["[url:value = 'http://a.example/'", null],
  ["url:value = 'http://a.example/'", null],
  ["[url:value = 'http://a.example/' OR]", null],
  ["[url:value = 'http://a.example/' ORurl:value = 'b']", null],
  ["[url:value = 'http://a.example/]", null],
];

test('only patterns of = comparisons joined by OR are accepted', () => {
  for (const [pattern, urls] of PATTERNS) assert.deepEqual(urlsOfPattern(pattern), urls, pattern);
  const many = (count: number) => `[${Array(count).fill("url:value = 'http://a.example/'").join(' OR ')}]`;
  assert.equal(urlsOfPattern(many(1000))?.length, 1000);
  assert.equal(urlsOfPattern(many(1001)), null);
});

test('a bundle has indicators, observables, files and families', async () => {
  const items = await readFixture(stix, 'stix.json');
  const reporter = 'Example CERT';
  const file = {
    sha256: hash('sha256', 'file a'),
    mimeType: 'text/x-shellscript',
    fileType: null,
    fileExt: null,
    fileSize: 1842,
    fileName: 'c.sh',
    family: 'Mirai',
  };
  assert.deepEqual(inputsOf(items), [
    { ts: ts('2025-07-02T00:00:00Z'), url: "http://www.example.com/it's", reporter, payload: { family: 'Mirai' } },
    { ts: ts('2025-07-02T00:00:00Z'), url: 'http://www.example.com/b\\', reporter, payload: { family: 'Mirai' } },
    { ts: ts('2025-07-03T00:00:00Z'), url: 'http://cdn.example.net/c', reporter, payload: file },
    { ts: ts('2025-07-04T00:00:00Z'), url: 'http://cdn.example.net/c', reporter },
    { ts: AS_OF_TS, url: 'http://cdn.example.net/d', reporter: '' },
  ]);
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'file' ? item.file : [])),
    [file],
  );
  assert.deepEqual(
    rejectsOf(items).map(({ reason }) => reason),
    ['pattern: only = comparisons joined by OR are supported, up to 1000 URLs'],
  );
});

const url = (n: number) => ({ type: 'url', id: `url--${n}`, value: `http://www.example.com/${n}` });
const file = (n: number) => ({ type: 'file', id: `file--${n}`, hashes: { 'SHA-256': hash('sha256', `${n}`) } });
const malware = (n: number) => ({ type: 'malware', id: `malware--${n}`, name: `Family ${n}` });
const relation = (from: { id: string }, to: { id: string }) => ({
  type: 'relationship',
  id: 'relationship--0',
  source_ref: from.id,
  target_ref: to.id,
  created: '2025-07-01T00:00:00Z',
});
const observed = (...objects: { id: string }[]) => ({
  type: 'observed-data',
  id: 'observed-data--0',
  object_refs: objects.map(({ id }) => id),
  first_observed: '2025-07-01T00:00:00Z',
});

const GRAPHS: [what: string, objects: object[], payloads: (string | null)[]][] = [
  ['a family, in either direction', [url(1), malware(1), relation(malware(1), url(1))], ['Family 1 -']],
  [
    'two families are ambiguous',
    [url(1), malware(1), malware(2), relation(url(1), malware(1)), relation(url(1), malware(2))],
    [null],
  ],
  ['a file', [url(1), file(1), relation(url(1), file(1))], ['null 1']],
  [
    'a file with its family',
    [url(1), file(1), malware(1), relation(url(1), file(1)), relation(file(1), malware(1))],
    ['Family 1 1'],
  ],
  ['two files', [url(1), file(1), file(2), relation(url(1), file(1)), relation(url(1), file(2))], ['null 1', 'null 2']],
  ['seen together', [url(1), file(1), file(2), observed(url(1), file(1), file(2))], ['null 1', 'null 2']],
  ['two URLs seen with one file', [url(1), url(2), file(1), observed(url(1), url(2), file(1))], ['null 1', 'null 1']],
  [
    'two URLs seen with two files',
    [url(1), url(2), file(1), file(2), observed(url(1), url(2), file(1), file(2))],
    [null, null],
  ],
];

for (const [what, objects, payloads] of GRAPHS) {
  test(`relations: ${what}`, async () => {
    const inputs = inputsOf(await readText(stix, JSON.stringify({ type: 'bundle', id: 'bundle--0', objects })));
    const hashes = new Map([1, 2].map((n) => [hash('sha256', `${n}`), n]));
    const found = inputs.map(({ payload }) =>
      payload === undefined ? null : `${payload.family} ${hashes.get(payload.sha256 ?? '') ?? '-'}`,
    );
    assert.deepEqual(found, payloads);
    assert.ok(inputs.every((input) => input.ts === ts('2025-07-01T00:00:00Z')));
  });
}

test('input without a bundle is refused; invalid objects are rejects', async () => {
  await assert.rejects(readText(stix, '{"objects":[]}'), /not a STIX bundle/);
  const bundle = { type: 'bundle', objects: [5, {}, { type: 'constructor', id: 'x' }, { type: 'url', id: 'url--1' }] };
  const rejects = rejectsOf(await readText(stix, JSON.stringify(bundle)));
  assert.deepEqual(
    rejects.map(({ reason }) => reason),
    ['must be an object with a type and an id', 'must be an object with a type and an id', 'value: missing'],
  );
});

test('an object with many relations takes linear time', async () => {
  const urls = Array.from({ length: 20_000 }, (_, n) => url(n));
  const objects = [malware(1), ...urls, ...urls.map((one) => relation(malware(1), one)), observed(...urls, malware(1))];
  const inputs = inputsOf(await readText(stix, JSON.stringify({ type: 'bundle', objects }), HUGE));
  assert.equal(inputs.filter(({ payload }) => payload?.family === 'Family 1').length, 20_000);
});

const HUGE = { maxUnpackedBytes: 2 ** 30, maxRatio: 200, maxLineBytes: 2 ** 24 };
