import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGE_ROWS } from '../../src/database/pages.ts';
import { createDomainReads, type SenderRow } from '../../src/reputation/domain-reads.ts';
import { networkOf, T } from './contract/evidence.ts';

const ROWS = 40 * PAGE_ROWS;

/** In order of the key; the last ones are the newest. Two of a time, the second first. */
function senderRow(i: number): SenderRow {
  const { ip } = networkOf(`2001:db8::${i.toString(16)}`);
  return [ip, `mail${i % 2}.example`, T + (i >>> 1)];
}

test('while many senders are sorted, other requests are answered', async () => {
  const rows = Array.from({ length: ROWS }, (_, i) => senderRow(i));
  let read = 0;
  let iterations = 0; // since the last page was read
  const count = () => {
    iterations += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const unused = () => assert.fail('not read');
  const { domainSenders } = createDomainReads({
    senders() {
      iterations = 0;
      read += PAGE_ROWS;
      return rows.slice(read - PAGE_ROWS, read);
    },
    ...{ sightings: unused, evidence: unused, addresses: unused, urls: unused, payloads: unused },
  });
  const senders = await domainSenders(1, 100);
  clearImmediate(counting);
  assert.ok(iterations >= 3, `${iterations}`);
  const expected = Array.from({ length: 100 }, (_, i) => rows[ROWS - 1 - (i ^ 1)]);
  assert.deepEqual(
    senders.map(({ ip, helo, lastTs }) => [ip, helo, lastTs]),
    expected,
  );
});
