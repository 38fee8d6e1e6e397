import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatcher } from '../../src/ingest/batch.ts';
import { FORMATS } from '../../src/ingest/formats/formats.ts';
import { INPUT_LIMITS } from '../../src/ingest/sources/format.ts';
import { sourceOf } from '../../src/ingest/sources/source.ts';
import { liveHeapBytes } from '../live-bytes.ts';
import { AS_OF_TS, CHOICES } from './formats/read-items.ts';

/** A batch has 2,000. */
const ROWS = 100;
/** Nearly `--max-line-bytes`. */
const LONG = 'y'.repeat(1_000_000);
/** Of each row, on average: a few of the last ones may still be in use. */
const MAX_KEPT_BYTES = 100_000;
/** Rows of 8,000 characters are not copied as a whole: only what the batch needs of them. */
const WIDE = 'y'.repeat(8_000);
const MAX_KEPT_BYTES_OF_WIDE = 5_000;

const CASES: [what: string, format: string, row: (n: number) => string, maxKeptBytes?: number][] = [
  ['addresses that are none', 'ip-list', () => LONG],
  ['names that are none', 'domain-list', () => LONG],
  ['URLs that are none', 'url-list', () => LONG],
  ['addresses in JSON that are none', 'ndjson', () => `{"ts":1,"ip":"${LONG}","dataset":"XBL"}`],
  ['networks that are too wide', 'ip-list', () => `198.51.100.0/4 ${LONG}`],
  [
    'good rows with a long column',
    'urlhaus-csv',
    (n) =>
      `"${n}","2025-07-17 17:19:14","http://h${n}.example/file.sh","online","","malware_download","elf","${LONG}","reporter of the row"`,
  ],
  [
    'good rows with a wide column',
    'urlhaus-csv',
    (n) =>
      `"${n}","2025-07-17 17:19:14","http://198.51.100.${100 + n}:8080/file.sh","online","","malware_download","a tag of ${n % 50} letters","${WIDE}","reporter of the row"`,
    MAX_KEPT_BYTES_OF_WIDE,
  ],
];

for (const [what, name, row, maxKeptBytes = MAX_KEPT_BYTES] of CASES) {
  test(`a batch does not keep long rows: ${what}`, async () => {
    const format = FORMATS.find((one) => one.name === name);
    assert.ok(format);
    async function* bytes(): AsyncGenerator<Buffer> {
      for (let n = 0; n < ROWS; n++) yield Buffer.from(`${row(n)}\n`);
    }
    const rules = { source: 'feed', nowTs: AS_OF_TS, allowReserved: true, isAllowed: () => false };
    const batcher = createBatcher({ rules, lookupAsn: undefined, isListing: false });
    const source = sourceOf('hostile', bytes(), null, () => null);
    const times = { nowTs: AS_OF_TS, asOfTs: AS_OF_TS };
    const before = liveHeapBytes();
    for await (const items of format.read(source, INPUT_LIMITS, { ...times, ...CHOICES[name] })) {
      for (const item of items) batcher.add(item);
    }
    const kept = liveHeapBytes() - before;
    const { rows, rejects } = batcher.take();
    assert.equal(rows, ROWS);
    assert.ok(kept < ROWS * maxKeptBytes, `${Math.round(kept / ROWS)} bytes for each row`);
    for (const { reason } of rejects) assert.ok(reason.length <= 1_024);
  });
}
