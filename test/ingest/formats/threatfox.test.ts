import assert from 'node:assert/strict';
import { test } from 'node:test';
import { threatfoxCsv, threatfoxJson } from '../../../src/ingest/formats/threatfox.ts';
import { evidenceOf, inputsOf, readFixture, readText, rejectsOf, timesOf, ts } from './read-items.ts';

const FIRST = ts('2025-07-17T10:00:00Z');
const LAST = ts('2025-07-17T12:00:00Z');
const HASH = 'ab'.repeat(32);

const CONTROLLER = {
  type: 'listing',
  network: '198.51.100.7',
  dataset: 'BCL',
  botname: 'Example RAT',
  dstport: 443,
  details: { abused: false },
};

test('threatfox-csv: addresses, domains, URLs and files; everything else is a reject', async () => {
  const items = await readFixture(threatfoxCsv, 'threatfox.csv');
  assert.deepEqual(evidenceOf(items), [
    { ...CONTROLLER, ts: FIRST },
    { ...CONTROLLER, ts: LAST },
    {
      ...CONTROLLER,
      network: '198.51.100.8',
      dataset: 'XBL',
      botname: null,
      dstport: 80,
      details: { abused: true },
      ts: FIRST,
    },
    {
      type: 'domain',
      domain: 'C2.Example.com',
      kind: 'botnetcc',
      ts: FIRST,
      confidence: 75,
      botname: 'Example RAT',
      isAbused: false,
      tags: ['botnetcc', 'rat'],
    },
    {
      type: 'domain',
      domain: 'files.example.org',
      kind: 'malware',
      ts: FIRST,
      confidence: 50,
      botname: null,
      isAbused: true,
      tags: [],
    },
  ]);
  const online = { url: 'http://files.example.org/a', status: 'online', reporter: 'nightwatch' };
  assert.deepEqual(inputsOf(items), [
    { ...online, ts: FIRST, payload: { family: 'Example RAT' } },
    { ...online, ts: LAST },
  ]);
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'file' ? [[item.file.sha256, item.file.family]] : [])),
    [[HASH, 'Example RAT']],
  );
  assert.deepEqual(rejectsOf(items), [
    { line: 12, reason: 'ioc_type: "md5_hash" is not used; only ip:port, domain, url and sha256_hash are' },
    { line: 13, reason: 'ioc_value: must be 64 hexadecimal digits' },
    { line: 14, reason: 'ioc_value: must be an IP address and a port, such as 192.0.2.1:443' },
    { line: 15, reason: 'first_seen_utc: must be a time such as 2025-07-17 17:19:14' },
  ]);
  assert.deepEqual(timesOf(items), [ts('2025-07-17T18:00:00Z')]);
});

const EXPORTED = {
  ioc_value: '198.51.100.7:443',
  ioc_type: 'ip:port',
  threat_type: 'botnet_cc',
  malware_printable: 'Example RAT',
  first_seen_utc: '2025-07-17 10:00:00',
  last_seen_utc: '2025-07-17 12:00:00',
  confidence_level: 100,
  is_compromised: false,
  tags: 'rat',
};
const { ioc_value: ioc, first_seen_utc: first_seen, last_seen_utc: last_seen, ...rest } = EXPORTED;
const BY_API = { ...rest, ioc, first_seen: `${first_seen} UTC`, last_seen: `${last_seen} UTC`, tags: ['rat'] };

for (const [what, document] of [
  ['an object of lists', { 1: [EXPORTED] }],
  ['a list', [EXPORTED]],
  ['the response of the API', { query_status: 'ok', data: [BY_API] }],
] as const) {
  test(`threatfox-json: ${what}`, async () => {
    const items = await readText(threatfoxJson, JSON.stringify(document));
    assert.deepEqual(evidenceOf(items), [
      { ...CONTROLLER, ts: FIRST },
      { ...CONTROLLER, ts: LAST },
    ]);
    assert.deepEqual(rejectsOf(items), []);
  });
}

test('threatfox-json: a record that is no object is a reject', async () => {
  const reason = 'a record must be a JSON object';
  assert.deepEqual(rejectsOf(await readText(threatfoxJson, '{"1":["x"],"2":null}')), [
    { line: 1, reason },
    { line: 1, reason },
  ]);
});

test('threatfox-json: the tags of a URL are those of its first time', async () => {
  const record = { ...EXPORTED, ioc_value: 'http://a.example/', ioc_type: 'url' };
  assert.deepEqual(
    inputsOf(await readText(threatfoxJson, JSON.stringify([record]))).map(({ ts, tags }) => [ts, tags]),
    [
      [FIRST, ['rat']],
      [LAST, undefined],
    ],
  );
});

test('threatfox-json: confidence and compromise of a domain, which may be unknown', async () => {
  for (const [confidence_level, is_compromised, expected] of [
    [75, true, [75, true]],
    ['75', '1', [75, true]],
    [' 75 ', 0, [75, false]],
    ['', 'maybe', [undefined, null]],
    [null, null, [undefined, null]],
    [undefined, undefined, [undefined, null]],
  ] as const) {
    const record = { ...EXPORTED, ioc_value: 'a.example', ioc_type: 'domain', confidence_level, is_compromised };
    const [found] = evidenceOf(await readText(threatfoxJson, JSON.stringify([record])));
    assert.ok(found?.type === 'domain');
    assert.deepEqual([found.confidence, found.isAbused], expected, JSON.stringify(record));
  }
});

for (const [what, change, reason] of [
  ['no value', { ioc_value: null }, 'ioc_value: missing'],
  ['no first time', { first_seen_utc: null }, 'first_seen_utc: must be a time such as 2025-07-17 17:19:14'],
  ['an invalid last time', { last_seen_utc: 'yesterday' }, 'last_seen_utc: must be a time such as 2025-07-17 17:19:14'],
  ['no type', { ioc_type: null }, 'ioc_type: "" is not used; only ip:port, domain, url and sha256_hash are'],
] as const) {
  test(`threatfox-json: ${what} is a reject`, async () => {
    const items = await readText(threatfoxJson, JSON.stringify([{ ...EXPORTED, ...change }]));
    assert.deepEqual(rejectsOf(items), [{ line: 1, reason }]);
  });
}

test('threatfox-json: IPv6 with a port', async () => {
  for (const ioc_value of ['[2001:db8::7]:443', '2001:db8::7:443']) {
    const [listing] = evidenceOf(await readText(threatfoxJson, JSON.stringify([{ ...EXPORTED, ioc_value }])));
    assert.deepEqual(listing?.type === 'listing' && [listing.network, listing.dstport], ['2001:db8::7', 443]);
  }
});
