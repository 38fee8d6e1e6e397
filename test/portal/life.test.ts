import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dotsOf, lengthText, sinceText, spansOf, timesBack, windowOf } from '../../portal/life.ts';
import { relatedOf } from '../../portal/related.ts';

const DAY = 86_400;
const NOW = Date.UTC(2026, 10, 16) / 1_000;

const event = (daysAgo: number, status: 'added' | 'online' | 'offline' | 'removed') => ({
  ts: NOW - daysAgo * DAY,
  status,
});

test('events become spans of one status each', () => {
  const spans = spansOf([event(60, 'added'), event(50, 'offline'), event(40, 'removed'), event(10, 'online')], NOW);
  assert.deepEqual(
    spans.map(({ fromTs, toTs, status }) => [(NOW - fromTs) / DAY, (NOW - toTs) / DAY, status]),
    [
      [60, 50, 'online'],
      [50, 10, 'offline'],
      [10, 0, 'online'],
    ],
  );
  assert.equal(timesBack(spans), 1);
  assert.equal(timesBack(spansOf([event(60, 'added'), event(50, 'offline')], NOW)), 0);
  assert.deepEqual(spansOf([], NOW), []);
});

test('the chart begins shortly before the first fact, and shows a week at least', () => {
  const spans = spansOf([event(100, 'added')], NOW);
  const dots = dotsOf([{ ts: NOW - 120 * DAY, 'malware-family': null, file_type: 'elf', file_name: null }]);
  const { fromTs, toTs } = windowOf(spans, dots, NOW);
  assert.equal(toTs, NOW);
  assert.ok(fromTs < NOW - 120 * DAY && fromTs > NOW - 130 * DAY);
  assert.ok(windowOf(spansOf([event(0, 'added')], NOW), [], NOW).fromTs <= NOW - 7 * DAY);
  assert.equal(lengthText(NOW - 360 * DAY, NOW), '12 months');
  assert.equal(lengthText(NOW - 1_461 * DAY, NOW), '48 months'); // four years
  assert.equal(lengthText(NOW - 90 * DAY, NOW), '90 days');
  assert.equal(lengthText(NOW - 91 * DAY, NOW), '3 months');
  assert.equal(sinceText(NOW - 94 * DAY, NOW), 'since 14 Aug 2026 (94 days)');
  assert.match(dots[0]?.label ?? '', /unknown family, elf$/);
  const [named, unknown] = dotsOf([
    { ts: NOW, 'malware-family': 'Mirai', file_type: 'elf', file_name: 'bin.sh' },
    { ts: NOW, 'malware-family': 'Mirai', file_type: null, file_name: null },
  ]);
  assert.deepEqual(
    [named, unknown].map((dot) => [dot?.group, dot?.label]),
    [
      ['Mirai', '16 Nov 2026: Mirai, bin.sh'],
      ['Mirai', '16 Nov 2026: Mirai, a file'],
    ],
  );
});

test('related searches show what they cost', () => {
  const related = relatedOf({
    id: 1,
    host: 'www.example.com',
    addresses: [{ ip: '203.0.113.7', asn: 64500 }],
    payloads: [{ 'malware-family': 'Mirai', sha256_hash: 'a'.repeat(64) }],
  });
  assert.deepEqual(
    related.map(({ label, name, value, cost }) => [label, name, value, cost]),
    [
      ['Same host', 'host', 'www.example.com', 1],
      ['Same address', 'ip', '203.0.113.7', 1],
      ['203.0.113.0/24', 'ip', '203.0.113.0/24', 9],
      ['AS64500', 'asn', '64500', 1],
      ['Mirai', 'malware_family', 'Mirai', 1],
      ['Same file', 'sha256', 'a'.repeat(64), 1],
    ],
  );
  const unknownAddress = { id: null, host: '[2001:db8::1]', addresses: [], payloads: [] };
  for (const alone of [unknownAddress, { ...unknownAddress, id: 1, addresses: [{ ip: '2001:db8::1', asn: null }] }]) {
    assert.deepEqual(
      relatedOf(alone).map(({ label, cost }) => [label, cost]),
      [
        ['Same address', 1],
        ['2001:db8::/56', 9],
      ],
    );
  }
  assert.deepEqual(relatedOf({ ...unknownAddress, host: 'www.example.com' }), []); // the page has the URLs on the host
});
