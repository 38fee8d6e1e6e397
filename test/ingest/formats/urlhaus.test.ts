import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ObservationInput } from '../../../src/core/observation.ts';
import { urlhausCsv, urlhausJson, urlhausPayloads } from '../../../src/ingest/formats/urlhaus.ts';
import { fixture, inputsOf, readFixture, readText, rejectsOf, timesOf, ts } from './read-items.ts';

const HEADER = 'id,dateadded,url,url_status,last_online,threat,tags,urlhaus_link,reporter';

/** `online 2025-07-16T10:00:00Z nightwatch` */
function observed(inputs: ObservationInput[], url: string): string[] {
  return inputs
    .filter((input) => input.url === url)
    .map(({ ts, status, reporter }) => `${status} ${new Date(ts * 1000).toISOString()} ${reporter}`);
}

test('a dump with a banner has a time, rows and rejects', async () => {
  const items = await readFixture(urlhausCsv, 'urlhaus-online.csv');
  assert.deepEqual(timesOf(items), [ts('2025-07-17T17:19:14Z')]);
  const inputs = inputsOf(items);
  const expected: Record<string, string[]> = {
    'http://192.0.2.7:52451/i': ['online 2025-07-17T17:19:14.000Z nightwatch'],
    'http://files.example.com/a.exe': ['online 2025-07-17T10:00:00.000Z ', 'online 2025-07-17T16:00:00.000Z '],
    'http://files.example.com/b.exe': [
      'online 2025-07-16T10:00:00.000Z nightwatch',
      'online 2025-07-16T11:00:00.000Z nightwatch',
      'offline 2025-07-16T11:00:00.000Z nightwatch',
    ],
    'http://files.example.com/c.exe': ['online 2025-07-16T09:00:00.000Z ', 'offline 2025-07-16T09:00:00.000Z '],
    'http://files.example.com/d?q="x",y': ['online 2025-07-16T08:00:00.000Z day "shift"'],
  };
  for (const [url, observations] of Object.entries(expected))
    assert.deepEqual(observed(inputs, url), observations, url);
  assert.equal(inputs.length, Object.values(expected).flat().length);
  const tagged = inputs.filter(({ tags }) => tags !== undefined);
  assert.deepEqual(
    tagged.map(({ ts, url, tags }) => `${ts} ${url} ${tags}`),
    [
      `${ts('2025-07-17T17:19:14Z')} http://192.0.2.7:52451/i 32-bit,elf,mips`,
      `${ts('2025-07-16T10:00:00Z')} http://files.example.com/b.exe exe`,
      `${ts('2025-07-16T08:00:00Z')} http://files.example.com/d?q="x",y exe`,
    ],
    'the first observation of a row has its tags',
  );
  assert.deepEqual(rejectsOf(items), [
    { line: 14, reason: 'dateadded: must be a time such as 2025-07-17 17:19:14' },
    { line: 15, reason: '8 columns instead of 9' },
    { line: 16, reason: 'url_status: must be online, offline or unknown' },
  ]);
});

test('a plain header line, CRLF and a byte order mark are accepted', async () => {
  const text = readFileSync(fixture('urlhaus-online.csv'), 'utf8');
  const rows = text.split('\n').filter((line) => !line.startsWith('#'));
  const plain = [HEADER, ...rows].join('\n');
  const expected = inputsOf(await readText(urlhausCsv, text));
  for (const variant of [plain, plain.replaceAll('\n', '\r\n'), `\ufeff${plain}`, rows.join('\n')]) {
    assert.deepEqual(inputsOf(await readText(urlhausCsv, variant)), expected);
  }
});

test('older dumps with eight columns, and with seven columns without a header, are read', async () => {
  const eight = inputsOf(await readFixture(urlhausCsv, 'urlhaus-8-columns.csv'));
  const at = '2019-03-01T10:00:00.000Z nightwatch';
  assert.deepEqual(observed(eight, 'http://192.0.2.8/i'), [`online ${at}`, `offline ${at}`]);
  const seven = await readFixture(urlhausCsv, 'urlhaus-7-columns-crlf.csv');
  assert.deepEqual(observed(inputsOf(seven), 'http://192.0.2.9/i'), ['online 2018-03-01T10:00:00.000Z ']);
  assert.deepEqual(rejectsOf(seven), []);
});

test('columns in another order are found by name', async () => {
  const text = '# url,url_status,dateadded\n"http://example.com/","online","2025-01-01 00:00:00"\n';
  assert.deepEqual(observed(inputsOf(await readText(urlhausCsv, text)), 'http://example.com/'), [
    'online 2025-01-01T00:00:00.000Z ',
  ]);
});

test('every row of a different table is a reject with a reason', async () => {
  const items = await readText(urlhausCsv, 'a,b\nc,d\n');
  assert.deepEqual(rejectsOf(items), [
    { line: 1, reason: '2 columns instead of 9 or 8 or 7' },
    { line: 2, reason: '2 columns instead of 9 or 8 or 7' },
  ]);
});

test('the text of a reject is its first 1,024 characters', async () => {
  const [item] = await readText(urlhausCsv, `"${'x'.repeat(5_000)}"\n`);
  assert.ok(item?.kind === 'reject');
  assert.equal(item.text.length, 1_024);
});

test('JSON is read like CSV', async () => {
  const items = await readFixture(urlhausJson, 'urlhaus.json');
  const inputs = inputsOf(items);
  assert.deepEqual(observed(inputs, 'http://192.0.2.7:52451/i'), [
    'online 2025-07-17T17:19:14.000Z nightwatch',
    'online 2025-07-17T18:00:00.000Z nightwatch',
  ]);
  const at = '2025-07-16T09:00:00.000Z day "shift"';
  assert.deepEqual(observed(inputs, 'http://files.example.com/c.exe'), [`online ${at}`, `offline ${at}`]);
  const [{ line } = { line: 0 }] = rejectsOf(items);
  assert.match(readFileSync(fixture('urlhaus.json'), 'utf8').split('\n')[line - 1] ?? '', /"105"/);
  const list = Object.values(JSON.parse(readFileSync(fixture('urlhaus.json'), 'utf8')))
    .reverse()
    .flat();
  assert.deepEqual(inputsOf(await readText(urlhausJson, JSON.stringify(list))), inputs);
});

test('invalid JSON records are rejects', async () => {
  const items = await readText(
    urlhausJson,
    '{"1":[],"2":[5],"3":null,"4":[{"url":5,"dateadded":"2025-01-01 00:00:00 UTC"}]}',
  );
  assert.deepEqual(
    rejectsOf(items).map(({ reason }) => reason),
    ['a record must be a JSON object', 'a record must be a JSON object', 'url: missing'],
  );
});

test('payloads are observations without a status; `None` is null', async () => {
  const items = await readFixture(urlhausPayloads, 'urlhaus-payloads.csv');
  assert.deepEqual(inputsOf(items), [
    {
      ts: ts('2025-07-17T17:19:20Z'),
      url: 'http://192.0.2.7:52451/i',
      status: null,
      payload: { sha256: hash('sha256', 'file a'), fileType: 'elf', family: 'Mirai' },
    },
    {
      ts: ts('2025-07-17T17:00:00Z'),
      url: 'http://files.example.com/a.exe',
      status: null,
      payload: { sha256: hash('sha256', 'file b'), fileType: 'exe', family: null },
    },
  ]);
  assert.deepEqual(rejectsOf(items), [
    { line: 9, reason: 'sha256: must be 64 hexadecimal digits' },
    { line: 10, reason: 'sha256, filetype and signature are all missing' },
    { line: 11, reason: 'firstseen: must be a time such as 2025-07-17 17:19:14' },
  ]);
});

test('a row of payloads may know the type of its file only, but not its URL', async () => {
  const rows = ['None,exe,,,', 'http://a.example/,exe,,,'].map((row) => `2025-07-17 17:00:00,${row}`);
  const items = await readText(urlhausPayloads, [...rows, '2025-07-17 17:00:00', ''].join('\n'));
  assert.deepEqual(
    inputsOf(items).map(({ url, payload }) => [url, payload]),
    [['http://a.example/', { sha256: null, fileType: 'exe', family: null }]],
  );
  assert.deepEqual(rejectsOf(items), [
    { line: 1, reason: 'url: missing' },
    { line: 3, reason: '1 column instead of 6' },
  ]);
});

test('columns may have another order, and a later comment does not change them', async () => {
  const lines = [
    'url,firstseen,filetype,md5,sha256,signature',
    '# a,b',
    'http://a.example/,2025-07-17 17:00:00,exe,,,',
    '',
  ];
  const items = await readText(urlhausPayloads, lines.join('\n'));
  assert.deepEqual(rejectsOf(items), []);
  assert.deepEqual(
    inputsOf(items).map(({ url }) => url),
    ['http://a.example/'],
  );
});
