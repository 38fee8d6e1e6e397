import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { stix } from '../../../src/ingest/formats/stix.ts';
import { valuesOfPattern } from '../../../src/ingest/formats/stix-pattern.ts';
import { cpuTimeMs } from '../../cpu-time.ts';
import { AS_OF_TS, evidenceOf, inputsOf, readFixture, readText, readWith, rejectsOf, ts } from './read-items.ts';

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
  ["[ipv4-addr:value = '192.0.2.1' OR domain-name:value = 'a.example']", ['192.0.2.1', 'a.example']],
  ["[ipv6-addr:value = '2001:db8::1']", ['2001:db8::1']],
  ["[ipv4-addr:value ISSUBSET '192.0.2.0/24']", null],
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
  for (const [pattern, urls] of PATTERNS) {
    const values = valuesOfPattern(pattern)?.map(({ value }) => value) ?? null;
    assert.deepEqual(values, urls, pattern);
  }
  const many = (count: number) => `[${Array(count).fill("url:value = 'http://a.example/'").join(' OR ')}]`;
  assert.equal(valuesOfPattern(many(1000))?.length, 1000);
  assert.equal(valuesOfPattern(many(1001)), null);
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
    ['pattern: only = comparisons joined by OR are supported, up to 1000 values'],
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
  [
    'a family of what was seen',
    [url(1), malware(1), observed(url(1)), relation(malware(1), observed(url(1)))],
    ['Family 1 -'],
  ],
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

const INDICATOR = { type: 'indicator', id: 'indicator--1', pattern_type: 'stix', valid_from: '2025-07-02T00:00:00Z' };
const FROM_TS = ts('2025-07-02T00:00:00Z');
const addr = (n: number) => ({ type: 'ipv4-addr', id: `ipv4-addr--${n}`, value: `198.51.100.${n}` });
const bundle = (...objects: object[]) => JSON.stringify({ type: 'bundle', objects });

test('a URL counts at its first and last observation, else at its first relation that has a time', async () => {
  const days = async (...objects: object[]) =>
    inputsOf(await readText(stix, bundle(url(1), malware(1), ...objects))).map((input) => input.ts);
  const second = {
    id: 'observed-data--2',
    first_observed: '2025-07-03T00:00:00Z',
    last_observed: '2025-07-09T00:00:00Z',
  };
  const first = { ...observed(url(1)), last_observed: '2025-07-04T00:00:00Z' };
  const times = [ts('2025-07-01T00:00:00Z'), ts('2025-07-09T00:00:00Z')];
  assert.deepEqual(await days(first, { ...first, ...second }), times);
  assert.deepEqual(await days({ ...first, ...second }, first), times);
  const related = relation(url(1), malware(1));
  const [later, timeless] = ['2025-07-05T00:00:00Z', undefined].map((created) => ({ ...related, created }));
  for (const relations of [
    [timeless, later, related],
    [related, timeless, later],
  ]) {
    assert.deepEqual(await days(...(relations as object[])), times.slice(0, 1));
  }
});

test('hosts and URLs of indicators count, unless they are benign; labels and kill chains say of what', async () => {
  const pattern =
    "[ipv4-addr:value = '198.51.100.1' OR domain-name:value = 'a.example' OR url:value = 'http://b.example/']";
  const listing = { type: 'listing', network: '198.51.100.1', ts: FROM_TS, botname: null, dstport: null };
  const domain = { type: 'domain', domain: 'a.example', ts: FROM_TS, confidence: undefined, botname: null };
  const CASES: [says: object, dataset: string | null, kind?: string][] = [
    [{}, 'XBL', 'malware'],
    [{ labels: ['command-and-control'] }, 'BCL', 'botnetcc'],
    [{ indicator_types: ['malicious-activity'], labels: ['phishing'] }, 'XBL', 'phishing'],
    [{ kill_chain_phases: [{ kill_chain_name: 'x', phase_name: 'command-and-control' }] }, 'BCL', 'botnetcc'],
    [{ indicator_types: ['benign'] }, null],
    [{ labels: ['benign'] }, null],
    [{ revoked: true }, null],
  ];
  for (const [says, dataset, kind] of CASES) {
    const items = await readText(stix, bundle({ ...INDICATOR, pattern, ...says }));
    const expected =
      dataset === null
        ? []
        : [
            { ...listing, dataset },
            { ...domain, kind },
          ];
    assert.deepEqual(evidenceOf(items), expected, JSON.stringify(says));
    const urls = inputsOf(items).map(({ url }) => url);
    assert.deepEqual(urls, dataset === null ? [] : ['http://b.example/'], JSON.stringify(says));
  }
});

test('observables that only benign indicators are about are left out', async () => {
  const name = { type: 'domain-name', id: 'domain-name--1', value: 'a.example' };
  const seen = observed(url(1), name, addr(1));
  const benign = { ...INDICATOR, pattern: "[url:value = 'http://b.example/']", indicator_types: ['benign'] };
  const other = { ...INDICATOR, id: 'indicator--2', pattern: "[file:name = 'x']" };
  const all = ['http://www.example.com/1', '198.51.100.1', 'a.example'];
  const CASES: [what: string, objects: object[], found: string[]][] = [
    ['not related', [benign], all],
    ['through observed data', [benign, relation(benign, seen)], []],
    ['directly, in either direction', [benign, relation(benign, url(1)), relation(name, benign)], ['198.51.100.1']],
    ['another language', [{ ...benign, pattern_type: 'yara', pattern: 'x' }, relation(benign, seen)], []],
    ['not benign', [other, relation(other, seen)], all],
    ['both', [benign, other, relation(benign, seen), relation(other, seen)], all],
    ['one of them both', [benign, other, relation(benign, seen), relation(other, name)], ['a.example']],
    ['revoked', [{ ...benign, revoked: true }, relation(benign, seen)], all],
  ];
  for (const [what, objects, found] of CASES) {
    const items = await readText(stix, bundle(url(1), addr(1), name, seen, ...objects));
    const evidence = evidenceOf(items).map((one) =>
      'network' in one ? one.network : 'domain' in one ? one.domain : '',
    );
    assert.deepEqual([...inputsOf(items).map((input) => input.url), ...evidence], found, what);
  }
});

test('an indicator that is related to a benign one counts', async () => {
  const benign = { ...INDICATOR, pattern: "[url:value = 'http://b.example/']", indicator_types: ['benign'] };
  const other = { ...INDICATOR, id: 'indicator--2', pattern: "[url:value = 'http://c.example/']" };
  const items = await readText(stix, bundle(benign, other, relation(benign, other)));
  assert.deepEqual(
    inputsOf(items).map((input) => input.url),
    ['http://c.example/'],
  );
});

test('families, confidence and the label of a related infrastructure', async () => {
  const indicator = { ...INDICATOR, pattern: "[domain-name:value = 'a.example']", confidence: 60 };
  const infrastructure = {
    type: 'infrastructure',
    id: 'infrastructure--1',
    infrastructure_types: ['command-and-control'],
  };
  const relations = [relation(indicator, malware(1)), relation(indicator, infrastructure)];
  const items = await readText(stix, bundle(indicator, malware(1), infrastructure, ...relations));
  assert.deepEqual(evidenceOf(items), [
    { type: 'domain', domain: 'a.example', kind: 'botnetcc', ts: FROM_TS, confidence: 60, botname: 'Family 1' },
  ]);
});

test('observables are evidence, but not the address of a name and not the origin of traffic', async () => {
  const name = { type: 'domain-name', id: 'domain-name--1', value: 'a.example', resolves_to_refs: [addr(1).id] };
  const traffic = { type: 'network-traffic', id: 't', src_ref: addr(2).id, dst_ref: addr(3).id, dst_port: 443 };
  const items = await readText(stix, bundle(name, addr(1), addr(2), addr(3), traffic, observed(name, addr(3))));
  const seenTs = ts('2025-07-01T00:00:00Z');
  assert.deepEqual(evidenceOf(items), [
    { type: 'domain', domain: 'a.example', kind: 'malware', ts: seenTs, confidence: undefined, botname: null },
    { type: 'fact', domain: 'a.example', a: ['198.51.100.1'], ts: seenTs },
    { type: 'listing', network: '198.51.100.3', dataset: 'XBL', ts: seenTs, botname: null, dstport: 443 },
  ]);
});

test('--dataset and --kind take precedence', async () => {
  const indicator = {
    ...INDICATOR,
    pattern: "[ipv4-addr:value = '198.51.100.1' OR domain-name:value = 'a.example']",
    labels: ['c2'],
  };
  const choices = { dataset: 'CSS', evidenceKind: 'phishing' } as const;
  const evidence = evidenceOf(await readWith(stix, bundle(indicator), choices));
  assert.deepEqual(
    evidence.map((one) => ('dataset' in one ? one.dataset : 'kind' in one && one.kind)),
    ['CSS', 'phishing'],
  );
});

test('an indicator whose URLs and files would be more than 10,000 payloads is a reject', async () => {
  const pattern = (urls: number) =>
    `[${Array.from({ length: urls }, (_, n) => `url:value = 'http://a.example/${n}'`).join(' OR ')}]`;
  const files = Array.from({ length: 100 }, (_, n) => file(n));
  const read = (urls: number) => {
    const indicator = { ...INDICATOR, pattern: pattern(urls) };
    return readText(stix, bundle(indicator, ...files, ...files.map((one) => relation(indicator, one))), HUGE);
  };
  assert.equal(inputsOf(await read(100)).length, 10_000);
  const items = await read(101);
  assert.deepEqual(inputsOf(items), []);
  assert.deepEqual(
    rejectsOf(items).map(({ reason }) => reason),
    ['pattern: each of its 101 URLs would have 100 files; at most 10000 payloads for one object'],
  );
});

test('an object with thousands of labels and relations is read in time that grows with their number', async () => {
  const many = <T>(toOne: (i: number) => T): T[] => Array.from({ length: 8_000 }, (_, i) => toOne(i));
  const objects = [
    { type: 'infrastructure', id: 'infrastructure--1', labels: many((i) => `label ${i}`) },
    ...many((i) => ({ type: 'domain-name', id: `domain-name--${i}`, value: `a${i}.example` })),
    ...many((i) => ({
      type: 'relationship',
      id: `relationship--${i}`,
      source_ref: 'infrastructure--1',
      target_ref: `domain-name--${i}`,
    })),
  ];
  const start = cpuTimeMs();
  await readText(stix, JSON.stringify({ type: 'bundle', id: 'bundle--1', objects }));
  const tookMs = cpuTimeMs() - start;
  assert.ok(tookMs < 4_000, `${tookMs} ms`); // with all labels for each name: 16 s
});
