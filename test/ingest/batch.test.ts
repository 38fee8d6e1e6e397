import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sliceToByteText, toBytes } from '../../src/core/byte-text.ts';
import type { ObservationInput } from '../../src/core/observation.ts';
import { type Batch, createBatcher, sourcesOf } from '../../src/ingest/batch.ts';
import type { EvidenceInput, EvidenceRules } from '../../src/ingest/evidence.ts';
import { timeFault } from '../../src/ingest/json-checks.ts';
import type { Item } from '../../src/ingest/sources/format.ts';
import { packBatch, unpackGroups } from '../../src/urls/packed-groups.ts';
import { cpuTimeMs } from '../cpu-time.ts';

const NOW = 1_767_225_600;
const DAY = 86_400;
const URL = 'http://a.example/';

const row = (...inputs: Partial<ObservationInput>[]): Item => ({
  kind: 'observations',
  line: 3,
  text: 'row',
  inputs: inputs.map((input) => ({ ts: 10, url: URL, ...input })),
});
const file: Item = {
  kind: 'file',
  line: 4,
  text: 'file',
  file: {
    sha256: 'ab'.repeat(32),
    mimeType: null,
    fileType: null,
    fileExt: null,
    fileSize: null,
    fileName: null,
    family: 'x',
  },
};
const rejected: Item = { kind: 'reject', line: 5, text: 'a\0\ud800', reason: 'invalid' };

function batcher(options: Partial<Parameters<typeof createBatcher>[0]> = {}) {
  return createBatcher({ rules: RULES, lookupAsn: undefined, isListing: false, ...options });
}

const RULES: EvidenceRules = { source: 'feed', nowTs: NOW, allowReserved: true, isAllowed: () => false };
const NO_OBSERVATIONS = { all: 0, online: 0, other: 0, newestTs: null };
const NO_EVIDENCE = { listings: [], domains: [], facts: [], entries: [], listEnd: null };

const groupsOf = ({ urls }: Pick<Batch, 'urls'>) => [...unpackGroups(packBatch(urls), sliceToByteText)];

test('rows of every kind are counted, and a time is not a row', () => {
  const rows = batcher();
  for (const item of [{ kind: 'time', ts: 5 } as const, row({}, { url: `${URL}b` }), file, rejected]) rows.add(item);
  assert.equal(rows.size(), 4);
  const { urls, files, rejects, ...rest } = rows.take();
  const observations = { all: 2, online: 2, other: 0, newestTs: 10 };
  assert.deepEqual(rest, { ...NO_EVIDENCE, observations, rows: 3, listed: [], newestTs: 10, endsInReject: true });
  assert.deepEqual([groupsOf({ urls }).length, files.length], [2, 1]);
  assert.deepEqual(rejects, [{ line: 5, reason: 'invalid', text: 'a\ufffd\ufffd' }]);
});

test('a long reason is shortened in the middle: it ends with what is wrong', () => {
  const rows = batcher();
  rows.add({ kind: 'reject', line: 1, text: '', reason: `${JSON.stringify('y'.repeat(9_999))} is no address` });
  const [{ reason } = { reason: '' }] = rows.take().rejects;
  assert.match(reason, /^"y{510}…y{497}" is no address$/);
});

test('the time of a source is the newest one unless a row has a later one', () => {
  const rows = batcher();
  assert.deepEqual(rows.take(), {
    ...NO_EVIDENCE,
    rows: 0,
    urls: packBatch([]),
    observations: NO_OBSERVATIONS,
    files: [],
    rejects: [],
    listed: [],
    newestTs: null,
    endsInReject: false,
  });
  rows.add({ kind: 'time', ts: 50 });
  rows.add(row({ ts: 10 }));
  assert.equal(rows.take().newestTs, 50);
});

test('observations are counted by status, with the newest time of one that has a status', () => {
  const rows = batcher();
  rows.add(row({ ts: 30 }, { ts: 40, status: 'offline' }, { ts: 35, status: 'removed' }, { ts: 50, status: null }));
  assert.deepEqual(rows.take().observations, { all: 4, online: 1, other: 2, newestTs: 40 });
  assert.deepEqual(rows.take().observations, NO_OBSERVATIONS);
});

test('for a dry run URLs are counted, and not kept', () => {
  const rows = batcher({ isDryRun: true, familiesOf: (tags) => [...tags] });
  rows.add(row({ ts: 30, tags: ['Mirai'] }, { ts: 40, status: 'offline' }));
  assert.equal(rows.size(), 2);
  const batch = rows.take();
  assert.deepEqual([groupsOf(batch), batch.observations], [[], { all: 2, online: 1, other: 1, newestTs: 40 }]);
});

test('a batch has the observations of its rows alone', () => {
  const rows = batcher();
  const taken = [10, 20].map((ts) => {
    rows.add(row({ ts }));
    return groupsOf(rows.take()).map(({ statuses }) => statuses.map((status) => status.ts));
  });
  assert.deepEqual([...taken, groupsOf(rows.take())], [[[10]], [[20]], []]);
});

test('a new batch is empty except for the newest time and the end of the previous one; totals continue', () => {
  const rows = batcher();
  for (const item of [row({ ts: 20 }), rejected, row({ ts: 15 })]) rows.add(item);
  assert.equal(rows.take().newestTs, 20);
  assert.deepEqual([rows.size(), rows.totals()], [0, { rows: 3, rejected: 1 }]);
  rows.add(rejected);
  assert.deepEqual(rows.totals(), { rows: 4, rejected: 2 });
  assert.equal(rows.take().endsInReject, true);
  const { rows: count, newestTs, endsInReject, rejects } = rows.take();
  assert.deepEqual([count, newestTs, endsInReject, rejects], [0, 20, true, []]);
  assert.deepEqual(rows.totals(), { rows: 4, rejected: 2 });
});

for (const { name, item } of [
  { name: 'a time of its observations', item: row({}, { ts: NOW + DAY + 1 }) },
  { name: 'its time, also if the payload has an earlier one', item: row({ ts: NOW + DAY + 1, payload: { ts: 10 } }) },
  { name: 'the time of a payload', item: row({ payload: { ts: NOW + DAY + 1 } }) },
  { name: 'a URL', item: row({}, { url: 'a.example' }) },
]) {
  test(`a row is rejected as a whole because of ${name}`, () => {
    const rows = batcher({ isListing: true });
    rows.add(item);
    const batch = rows.take();
    const { observations, rejects, listed, newestTs } = batch;
    assert.deepEqual([groupsOf(batch), observations, listed, newestTs], [[], NO_OBSERVATIONS, [], null]);
    assert.deepEqual(
      rejects.map(({ line, text }) => [line, text]),
      [[3, 'row']],
    );
  });
}

for (const [ts, isValid] of [
  [0, true],
  [NOW + DAY, true],
  [NOW + DAY + 1, false],
  [-1, false],
  [1.5, false],
  [Number.NaN, false],
] as const) {
  test(`timeFault: ${ts} is ${isValid ? 'valid' : 'invalid'}`, () =>
    assert.equal(timeFault(ts, NOW) === null, isValid));
}

test('a network is looked up if the row has none', () => {
  const rows = batcher({ lookupAsn: (ip) => ip.at(-1) ?? null });
  rows.add(row({ ip: ['192.0.2.7', '192.0.2.8'] }, { ip: '192.0.2.9', asn: 64500 }));
  const [group] = groupsOf(rows.take());
  assert.deepEqual(
    group?.addresses.map(([, ip, asn]) => [toBytes(ip).at(-1), asn]),
    [
      [7, 7],
      [8, 8],
      [9, 64500],
    ],
  );
});

test('rows with equal and different URLs are normalized', () => {
  const rows = batcher();
  for (const url of ['HTTP://a.example', 'HTTP://a.example', 'HTTP://b.example', 'HTTP://a.example'])
    rows.add(row({ url }));
  const statuses = new Map(groupsOf(rows.take()).map((group) => [group.url, group.statuses.length]));
  assert.deepEqual(
    statuses,
    new Map([
      ['http://a.example/', 3],
      ['http://b.example/', 1],
    ]),
  );
});

const other = `${URL}b`;
for (const { name, item, listed } of [
  { name: 'online', item: row({}), listed: [URL] },
  { name: 'offline', item: row({ status: 'offline' }), listed: [] },
  { name: 'no status', item: row({ status: null }), listed: [] },
  { name: 'online, then offline', item: row({ ts: 10 }, { ts: 11, status: 'offline' }), listed: [] },
  { name: 'offline, then online', item: row({ ts: 10, status: 'offline' }, { ts: 11 }), listed: [URL] },
  { name: 'the newest counts, in any order', item: row({ ts: 11 }, { ts: 10, status: 'offline' }), listed: [URL] },
  { name: 'offline counts at equal times', item: row({ ts: 10, status: 'offline' }, { ts: 10 }), listed: [] },
  { name: 'two URLs', item: row({}, { url: other }), listed: [URL, other] },
]) {
  test(`the listed URLs of a row: ${name}`, () => {
    const rows = batcher({ isListing: true });
    rows.add(item);
    assert.deepEqual(
      rows.take().listed,
      listed.map((url) => ({ url, host: 'a.example' })),
    );
  });
}

const evidence = (...inputs: EvidenceInput[]): Item => ({ kind: 'evidence', line: 6, text: 'evidence', inputs });
const listing: EvidenceInput = { type: 'listing', network: '192.0.2.7', dataset: 'XBL', ts: 10 };
const pieces: EvidenceInput[] = [
  listing,
  { type: 'domain', domain: 'www.example.com', kind: 'phishing', ts: 11, source: 'other' },
  { type: 'fact', domain: 'example.com', rank: 3, ts: 12, source: 'top' },
  { type: 'fact', domain: 'example.com', a: ['192.0.2.7'], ts: 12, source: 'ignored' },
  { type: 'list', as: 'allow', entry: '192.0.2.0/24', ts: 13 },
];

test('every piece of evidence counts for the size of a batch and has a source', () => {
  const rows = batcher();
  rows.add(evidence(...pieces));
  assert.deepEqual([rows.size(), rows.totals()], [5, { rows: 1, rejected: 0 }]);
  const batch = rows.take();
  assert.deepEqual(
    [batch.listings, batch.domains, batch.facts, batch.entries].map(({ length }) => length),
    [1, 1, 2, 1],
  );
  assert.deepEqual([...sourcesOf(batch)].sort(), ['feed', 'other', 'top']);
});

test('a row of evidence is rejected as a whole, and rows around it stay', () => {
  const rows = batcher();
  rows.add(evidence(listing));
  rows.add(evidence(...pieces, { ...listing, network: '192.0.2.300' }));
  rows.add(evidence(listing));
  const { listings, domains, facts, entries, rejects } = rows.take();
  assert.deepEqual(
    [listings, domains, facts, entries].map(({ length }) => length),
    [2, 0, 0, 0],
  );
  assert.deepEqual(
    rejects.map(({ line, text }) => [line, text]),
    [[6, 'evidence']],
  );
});

test('the end of a list is not a row, and the next batches remember it', () => {
  const rows = batcher();
  rows.add({ kind: 'list_end', ts: 5, source: 'list' });
  assert.deepEqual([rows.size(), rows.totals().rows], [0, 0]);
  assert.equal(rows.take().listEnd?.source, 'list');
  assert.equal(rows.take().listEnd?.ts, 5);
});

test('the families in the tags of a row with thousands of URLs are found in time that grows with their number', () => {
  const familiesOf = (tags: readonly string[]) => [...tags];
  const batcher = createBatcher({ rules: RULES, lookupAsn: undefined, isListing: false, familiesOf });
  const inputs = Array.from({ length: 16_000 }, (_, i) => ({ url: `http://a.example/${i}`, tags: ['Mirai'] }));
  const start = cpuTimeMs();
  batcher.add(row(...inputs));
  const tookMs = cpuTimeMs() - start;
  const families = groupsOf(batcher.take()).flatMap(({ payloads }) => payloads.map(({ family }) => family));
  assert.deepEqual(families, Array(inputs.length).fill('Mirai'));
  assert.ok(tookMs < 2_000, `${tookMs} ms`); // each URL compared with each: 8 s
});
