import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ndjson } from '../../../src/ingest/formats/formats.ts';
import { AS_OF_TS, inputsOf, readText, rejectsOf } from './read-items.ts';

test('each line is one observation or one reject', async () => {
  const lines = [
    '{"ts":1731628800,"url":"http://203.0.113.7/a.sh","ip":"203.0.113.7","asn":64500,"payload":{"malware-family":"Mirai"}}\r',
    '',
    'no JSON',
    '{"ts":1731628800,"url":"http://203.0.113.7/","statsu":"online"}',
    `{"ts":${AS_OF_TS + 90_000},"url":"http://203.0.113.7/"}`,
    '{"ts":1731628800,"url":"http://203.0.113.7/b","status":null}',
  ];
  const items = await readText(ndjson, lines.join('\n'));
  assert.deepEqual(inputsOf(items), [
    { ts: 1731628800, url: 'http://203.0.113.7/a.sh', ip: '203.0.113.7', asn: 64500, payload: { family: 'Mirai' } },
    { ts: 1731628800, url: 'http://203.0.113.7/b', status: null },
  ]);
  assert.deepEqual(
    rejectsOf(items).map(({ line }) => line),
    [3, 4, 5],
  );
  assert.match(rejectsOf(items)[1]?.reason ?? '', /unknown key "statsu"; allowed keys: ts, url, /);
});
