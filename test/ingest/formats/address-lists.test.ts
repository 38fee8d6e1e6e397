import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropJson } from '../../../src/ingest/formats/drop-json.ts';
import { feodoCsv, feodoJson } from '../../../src/ingest/formats/feodo.ts';
import { ipList } from '../../../src/ingest/formats/ip-list.ts';
import { AS_OF_TS, evidenceOf, readText, readWith, rejectsOf, timesOf, ts } from './read-items.ts';

const FIRST = ts('2025-07-17T10:00:00Z');
const LAST = ts('2025-07-20T00:00:00Z');

const FEODO_CSV = `# Feodo Tracker
# Last updated: 2025-07-20 18:00:00 UTC
"first_seen_utc","dst_ip","dst_port","c2_status","last_online","malware"
"2025-07-17 10:00:00","198.51.100.7","443","offline","2025-07-20","Example"
"2025-07-17 10:00:00","198.51.100.8","8080","online","2025-07-17","Example"
"2025-07-17 10:00:00","198.51.100.9","http","online","","Example"
"soon","198.51.100.9","80","online","","Example"
"2025-07-17 10:00:00","198.51.100.10","","online","2025-07-20 00:00:00","Example"
# END 5 entries
`;

test('feodo-csv: controllers at first seen and last online', async () => {
  const items = await readText(feodoCsv, FEODO_CSV);
  const controller = { type: 'listing', dataset: 'BCL', botname: 'Example', details: { asn: null, cc: null } };
  assert.deepEqual(evidenceOf(items), [
    { ...controller, network: '198.51.100.7', dstport: 443, ts: FIRST },
    { ...controller, network: '198.51.100.7', dstport: 443, ts: LAST },
    // The beginning of the day is before it was first seen.
    { ...controller, network: '198.51.100.8', dstport: 8080, ts: FIRST },
    { ...controller, network: '198.51.100.10', dstport: null, ts: FIRST },
    { ...controller, network: '198.51.100.10', dstport: null, ts: LAST },
  ]);
  assert.deepEqual(rejectsOf(items), [
    { line: 6, reason: 'port: must be a number' },
    { line: 7, reason: 'first_seen: must be a time such as 2025-07-17 17:19:14' },
  ]);
});

test('feodo-csv: without a header, with and without a status', async () => {
  const rows = '"2025-07-17 10:00:00","198.51.100.7","443","2025-07-20","Example"\n';
  assert.equal(evidenceOf(await readText(feodoCsv, rows)).length, 2);
});

test('feodo-json: network and country are details', async () => {
  const record = {
    ip_address: '198.51.100.7',
    port: 443,
    as_number: 64500,
    country: 'DE',
    first_seen: '2025-07-17 10:00:00',
    last_online: null,
    malware: 'Example',
  };
  const items = await readText(feodoJson, JSON.stringify([record, { ...record, as_number: null, country: '' }, 5]));
  const listing = {
    type: 'listing',
    network: '198.51.100.7',
    dataset: 'BCL',
    botname: 'Example',
    dstport: 443,
    ts: FIRST,
  };
  assert.deepEqual(evidenceOf(items), [
    { ...listing, details: { asn: 64500, cc: 'DE' } },
    { ...listing, details: { asn: null, cc: null } },
  ]);
  assert.deepEqual(rejectsOf(items), [{ line: 1, reason: 'a record must be a JSON object' }]);
});

const DROP = `{"cidr":"198.51.100.0/24","sblid":"SBL1","rir":"ripencc"}
{"cidr":"203.0.113.0/24","sblid":"SBL2","rir":"ripencc"}
{"asn":64500,"rir":"arin"}
{"cidr":
{"type":"metadata","timestamp":1749125274,"size":92565,"records":2}
`;
const drop = (network: string, atTs: number) => ({ type: 'listing', network, dataset: 'DROP', ts: atTs });

test('drop-json: the last line has the time of the list', async () => {
  const items = await readText(dropJson, DROP);
  assert.deepEqual(evidenceOf(items), [drop('198.51.100.0/24', 1749125274), drop('203.0.113.0/24', 1749125274)]);
  assert.deepEqual(timesOf(items), [1749125274]);
  assert.deepEqual(rejectsOf(items), [
    { line: 3, reason: 'cidr: missing; AS numbers are not listed' },
    { line: 4, reason: 'must be a JSON object' },
  ]);
});

test('drop-json: two lists in one file have their own times, and --as-of has precedence', async () => {
  const second = DROP.replaceAll('1749125274', '1766732678').replaceAll('198.51.100', '192.0.2');
  const times = async (text: string, options = {}) =>
    evidenceOf(await readWith(dropJson, text, options)).map(({ ts: atTs }) => atTs);
  assert.deepEqual(await times(DROP + second), [1749125274, 1749125274, 1766732678, 1766732678]);
  assert.deepEqual(await times(DROP, { hasAsOf: true }), [AS_OF_TS, AS_OF_TS]);
  assert.deepEqual(await times('{"type":"metadata","timestamp":7}\n{"cidr":"198.51.100.0/24"}\n'), [7]);
});

test('drop-json: a blank line is nothing, and a line that cannot be read is a reject', async () => {
  const lines = ['', '{"cidr":5}', '{"type":"metadata","timestamp":0}', '{"type":"metadata","timestamp":1.5}', '\0'];
  const items = await readWith(dropJson, `${lines.join('\n')}\n`, { hasAsOf: true });
  assert.deepEqual(rejectsOf(items), [
    { line: 2, reason: 'cidr: missing' },
    { line: 3, reason: 'timestamp: must be Unix seconds' },
    { line: 4, reason: 'timestamp: must be Unix seconds' },
    { line: 5, reason: 'the line contains a NUL byte; convert the file to UTF-8 text' },
  ]);
  assert.equal(rejectsOf(await readText(dropJson, 'x\n')).length, 1);
});

test('drop-json: a list without a time is refused, because it may be old or cut off', async () => {
  const text = '{"cidr":"198.51.100.0/24"}\n';
  await assert.rejects(readText(dropJson, text), /no line with its time.*--as-of/);
  assert.equal(evidenceOf(await readWith(dropJson, text, { hasAsOf: true })).length, 1);
});

const IP_LIST = `# comment
; comment
198.51.100.7
  198.51.100.8  # SSH
198.51.100.0/24 ; SBL1
2001:db8::/32,3,2025-07-17
192.0.2.1-192.0.2.9
,198.51.100.9
`;

test('ip-list: the first column of each line, for a dataset or a list', async () => {
  const entries = [
    '198.51.100.7',
    '198.51.100.8',
    '198.51.100.0/24',
    '2001:db8::/32',
    '192.0.2.1-192.0.2.9',
    ',198.51.100.9',
  ];
  assert.deepEqual(
    evidenceOf(await readWith(ipList, IP_LIST, { dataset: 'CSS' })),
    entries.map((network) => ({ type: 'listing', network, dataset: 'CSS', ts: AS_OF_TS })),
  );
  const items = await readWith(ipList, IP_LIST, { listKind: 'shared' });
  assert.deepEqual(
    evidenceOf(items),
    entries.slice(0, 4).map((entry) => ({ type: 'list', as: 'shared', entry, ts: AS_OF_TS })),
  );
  assert.deepEqual(
    rejectsOf(items).map(({ line }) => line),
    [7, 8],
  );
  assert.deepEqual(items.at(-1), { kind: 'list_end', ts: AS_OF_TS });
});
