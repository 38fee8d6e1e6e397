import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BY_HAND,
  humanText,
  networkOrder,
  REMOVAL_OPTIONS,
  readDomain,
  readListing,
  removalText,
} from '../../portal/by-hand.ts';
import {
  adviceText,
  changesText,
  durationText,
  everyText,
  FEED_TONES,
  type Feed,
  filterFeeds,
  type Import,
  intervalOptions,
  isBusy,
  nextText,
  readChange,
  readHeader,
  runBars,
  sinceText,
  unhealthyFeeds,
  uploadApi,
} from '../../portal/feeds.ts';
import { DATASET_WORDS, FORMATS, formatOf, KIND_OPTIONS, meaningOptions, readMeaning } from '../../portal/formats.ts';
import { ADDRESS_DATASETS, DOMAIN_KINDS, OPERATOR_SOURCE } from '../../src/core/evidence.ts';
import { FORMATS as SERVER_FORMATS } from '../../src/ingest/formats/formats.ts';
import { REMOVAL_DEFAULT_SECONDS } from '../../src/reputation/manage.ts';

const NOW = 1_794_700_000;
const HOUR = 3_600;

const FEED: Feed = {
  name: 'list',
  format: 'ip-list',
  url: 'https://lists.example/a.txt',
  interval_seconds: HOUR,
  complete: false,
  paused: false,
  private: false,
  trust: 0.7,
  life_seconds: null,
  dataset: 'XBL',
  kind: null,
  as: null,
  state: 'healthy',
  last_run_ts: NOW - 60,
  last_success_ts: NOW - 60,
  last_error: null,
  next_run_ts: NOW + 480,
  failures: 0,
  rows: 10,
  running: false,
  runs: [],
};

test('the pages know the formats, datasets and kinds of the server', () => {
  assert.deepEqual(
    FORMATS.map(({ name, text, ...choices }) => ({ name, ...choices })),
    SERVER_FORMATS.map(({ name, choices: { dataset, evidenceKind, listKinds, isRequired } = {} }) => ({
      name,
      ...(dataset && { takesDataset: true }),
      ...(evidenceKind && { takesKind: true }),
      ...(listKinds && { listKinds }),
      ...(isRequired && { needsMeaning: true }),
    })),
  );
  assert.deepEqual(Object.keys(DATASET_WORDS), [...ADDRESS_DATASETS]);
  assert.deepEqual(
    KIND_OPTIONS.map(({ value }) => value),
    [...DOMAIN_KINDS],
  );
  assert.equal(BY_HAND, OPERATOR_SOURCE);
  assert.equal(REMOVAL_OPTIONS[0]?.value, String(REMOVAL_DEFAULT_SECONDS));
});

test('feeds are filtered by the address of the page, and unhealthy ones are ordered by how bad it is', () => {
  const all: Feed[] = [
    { ...FEED, name: 'Good' },
    { ...FEED, name: 'late', state: 'late', last_success_ts: null },
    { ...FEED, name: 'failing', state: 'failing', url: 'https://other.example/' },
    { ...FEED, name: 'never', state: 'failing', last_success_ts: null },
  ];
  const cases: [query: string, found: string[]][] = [
    ['find=GOOD', ['Good']],
    ['find=other.example', ['failing']],
    ['state=failing', ['failing', 'never']],
    ['state=unhealthy', ['late', 'failing', 'never']],
    ['state=unhealthy&find=lists.example', ['late', 'never']],
    ['state=nothing', ['Good', 'late', 'failing', 'never']],
  ];
  for (const [query, found] of cases) {
    const names = filterFeeds(all, new URLSearchParams(query)).map(({ name }) => name);
    assert.deepEqual(names, found, query);
  }
  assert.deepEqual(
    unhealthyFeeds(all).map(({ name }) => name),
    ['late', 'never', 'failing'],
  );
  assert.deepEqual([FEED_TONES.late, FEED_TONES.failing], ['danger', 'late']); // red, amber
});

test('what the entries of a list mean becomes a value of the API', () => {
  const options = meaningOptions(formatOf('ip-list') ?? assert.fail());
  assert.deepEqual(options.at(-1), { value: 'as:shared', text: 'are shared by many people' });
  assert.deepEqual(readMeaning({ meaning: 'as:shared' }), { as: 'shared' });
  assert.deepEqual(readMeaning({ dataset: 'BCL', kind: 'phishing' }), { dataset: 'BCL', kind: 'phishing' });
  assert.deepEqual(readMeaning({}), {});
});

test('states of a feed in words', () => {
  assert.equal(nextText(FEED, NOW), 'in 8 minutes');
  assert.equal(nextText({ ...FEED, failures: 2 }, NOW), 'retry in 8 minutes');
  assert.equal(nextText({ ...FEED, next_run_ts: NOW }, NOW), 'due now');
  assert.equal(nextText({ ...FEED, failures: 2, next_run_ts: NOW + 365 * 24 * HOUR }, NOW), 'not in the demo');
  assert.equal(nextText({ ...FEED, running: true }, NOW), 'running now');
  assert.equal(nextText({ ...FEED, next_run_ts: null }, NOW), 'when it is resumed');
  const unhealthy = { ...FEED, last_success_ts: NOW - 5 * 24 * HOUR, failures: 5 };
  assert.match(
    sinceText(unhealthy, NOW),
    /^No success since 2026-11-\d\d \d\d:\d\d, for 5 days\. 5 runs in a row failed\.$/,
  );
  assert.equal(
    sinceText({ ...unhealthy, last_success_ts: null, failures: 1 }, NOW),
    'It was never fetched with success.',
  );
});

const OR_ELSE = 'or set the variable TMPDIR to another folder';
const SPACE = 'some space, then try again; what is already stored stays';

/** What a run ended with, and what to do. No name of a folder changes it. */
const ADVICE: [error: string | null, advice: RegExp][] = [
  ['lists.example responded with 403 Forbidden: check the key that is sent', /access key/],
  ['lists.example responded with 404 Not Found: check the URL', /new address/],
  ['lists.example responded with 503', /^The publisher has trouble.*tries again by itself/],
  ['lists.example closed the connection before the end of the response: try again later', /^The publisher has trouble/],
  ['None of the 31 rows could be used.', /rejected rows/],
  [`The folder for temporary files, /tmp, is full: make space in it, ${OR_ELSE}`, /have space/],
  [
    `The folder for temporary files, /srv/listing, cannot be used (EACCES): check that it exists and can be written, ${OR_ELSE}`,
    /be writable/,
  ],
  [`The disk of /srv/listing/intelligence.db is full: free ${SPACE}`, /free some space/],
  [
    `The disk of /data has 12 MB left, but 200 MB must be free, so that … can always be written. Free ${SPACE}`,
    /free some space/,
  ],
  ['The database /srv/listing/intelligence.db cannot be used (readonly): check that this user may write', /database/],
  ['The database was unavailable for 80 s. PostgreSQL closed the connection: its log may have the reason', /database/],
  ['PostgreSQL: could not extend file "base/1/2": No space left on device', /database/],
  ['/srv/listing/intelligence.db is damaged (malformed). Stop the server', /database/],
  ['/srv/listing/intelligence.db was removed or replaced: restart the server', /database/],
  ['Unexpected error: see the log of the process that ran it', /Its log has the reason/],
  [null, /Health/],
  ['something else', /tries again/],
];

test('the advice for a feed fits to the error of its last run', () => {
  for (const [error, text] of ADVICE) assert.match(adviceText({ ...FEED, last_error: error }), text, String(error));
});

test('a page asks again soon only while a feed runs or is just due', () => {
  assert.equal(isBusy([FEED], NOW), false);
  assert.equal(isBusy([FEED, { ...FEED, running: true }], NOW), true);
  assert.equal(isBusy([{ ...FEED, next_run_ts: NOW - 3 }], NOW), true);
  assert.equal(isBusy([{ ...FEED, next_run_ts: NOW - HOUR }], NOW), false);
  assert.equal(isBusy([{ ...FEED, next_run_ts: null }], NOW), false);
});

test('bars of runs have different labels and mark what failed', () => {
  const run = { started_ts: NOW, finished_ts: NOW, read: 5, added: 0, changed: 0, rejected: 0 };
  const bars = runBars([
    { ...run, id: 1, outcome: 'done' },
    { ...run, id: 2, outcome: 'failed' },
  ]);
  assert.equal(new Set(bars.map(({ label }) => label)).size, 2);
  assert.deepEqual(
    bars.map(({ isBad }) => isBad),
    [false, true],
  );
});

test('a change of a feed has only what differs', () => {
  assert.deepEqual(readChange({ every: '3600' }, FEED), {});
  assert.deepEqual(readChange({ every: '3600', private: 'on' }, FEED), { private: true });
  assert.deepEqual(readChange({ every: '300', complete: 'on', url: 'https://b.example/', no_headers: 'on' }, FEED), {
    url: 'https://b.example/',
    interval_seconds: 300,
    complete: true,
    no_headers: true,
  });
  assert.deepEqual(readHeader({ header: 'Auth-Key', secret: 'x' }), { headers: { 'Auth-Key': 'x' } });
  assert.throws(() => readHeader({ header: 'Auth-Key' }), /name and a value/);
});

test('intervals in words, with the present one', () => {
  assert.equal(everyText(300), 'every 5 minutes');
  assert.equal(everyText(HOUR), 'every hour');
  assert.equal(everyText(86_400), 'every day');
  assert.equal(everyText(90), 'every 90 seconds');
  assert.ok(intervalOptions(420).some(({ text }) => text === 'every 7 minutes'));
});

test('an import in words', () => {
  const one = { added: 1, changed: 2, went_offline: 0 } as Import;
  assert.equal(changesText(one), 'It brought 1 new URL and 2 other changes.');
  assert.match(changesText({ ...one, went_offline: 3 }), /; 3 URLs went offline\.$/);
  assert.equal(changesText({ ...one, added: 0, changed: 0 }), 'It changed nothing.');
  assert.equal(changesText({ ...one, added: 0, changed: 0, state: 'running' }), 'Nothing is changed yet.');
  assert.equal(durationText({ ...one, started_ts: 5, finished_ts: 5 }), 'below 1 second');
  assert.equal(durationText({ ...one, started_ts: 5, finished_ts: null }), '');
  assert.equal(
    uploadApi('x\u202e.csv', { format: 'stix', feed: '' }),
    '/api/admin/v1/imports?source=x%5Cu202e.csv&format=stix',
  );
});

test('lists by hand', () => {
  assert.equal(humanText(-25), '−25');
  assert.equal(humanText(25), '+25');
  assert.deepEqual(readDomain({ domain: 'a.example', human: '−10', reason: 'r' }), {
    domain: 'a.example',
    human: -10,
    reason: 'r',
  });
  assert.deepEqual(readDomain({ domain: 'a.example', abused: 'null', reason: 'r' }), {
    domain: 'a.example',
    abused: null,
    reason: 'r',
  });
  assert.throws(() => readDomain({ domain: 'a.example', human: '51', reason: 'r' }), /from -50 to 50/);
  assert.throws(() => readDomain({ domain: 'a.example', abused: 'keep', reason: 'r' }), /Enter points/);
  assert.throws(() => readListing({ cidr: '192.0.2.1', dataset: 'BCL', port: 'http' }), /Port/);
  const networks = [
    '9.0.0.0/8',
    '10.0.0.0/8',
    '10.0.0.0/9',
    '10.0.0.9',
    '10.0.0.10',
    '100.64.0.1',
    '2001:db8::/32',
    '2001:db8:1::',
  ];
  assert.deepEqual(
    networks.toReversed().toSorted((a, b) => (networkOrder(a) < networkOrder(b) ? -1 : 1)),
    networks,
  );
  assert.equal(networkOrder('shop.example'), 'shop.example');
  const removed = [{ cidr: '192.0.2.1', dataset: 'XBL', source: 'a', removed_ts: 1, until_ts: 2, reason: '' }];
  assert.equal(
    removalText({ cidr: '192.0.2.1', removed, still_covered_by: ['192.0.2.0/24'] }),
    '192.0.2.1 is removed from XBL. It is still covered by 192.0.2.0/24.',
  );
});
