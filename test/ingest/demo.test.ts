import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { formatIp } from '../../src/core/ip/address.ts';
import { parseNetwork } from '../../src/core/ip/network.ts';
import { demoObservations } from '../../src/ingest/demo.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { historyOf } from '../urls/answers.ts';

const NOW = 1_794_700_000;
const demo = demoObservations(NOW);

test('demo data uses only reserved host names, addresses and AS numbers', () => {
  const documentation = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'].map((text) => {
    const parsed = parseNetwork(text);
    assert.ok(parsed.ok);
    return parsed.network.ranges[0];
  });
  for (const { host, addresses, url } of demo) {
    assert.match(host, /(^|\.)(example(\.(com|net|org))?|test)$|^[\d.]+$|^\[/, url);
    for (const { ip, asn } of addresses) {
      const isReserved = documentation.some(
        (range) => range && Buffer.compare(range[0], ip) <= 0 && Buffer.compare(ip, range[1]) <= 0,
      );
      assert.ok(isReserved, formatIp(ip));
      assert.ok(asn !== null && asn >= 64_496 && asn <= 64_511, `AS${asn}`);
    }
  }
});

test('demo data is in the past and inside the default search window', () => {
  for (const { ts } of demo) assert.ok(ts <= NOW && ts > NOW - 300 * 86_400);
});

test('demo data has every kind of event, several payloads, IPv4 and IPv6 addresses', async (t) => {
  const store = await openIntelligence({ dataDir: temporaryFolder(t) });
  t.after(() => store.close());
  await store.apply(demo);
  const histories = await Promise.all([...new Set(demo.map(({ url }) => url))].map((url) => historyOf(store, url)));
  const kinds = new Set(histories.flatMap((history) => history?.events.map(({ status }) => status) ?? []));
  assert.deepEqual([...kinds].sort(), ['added', 'offline', 'online', 'removed']);
  assert.ok(histories.some((history) => (history?.payloads.length ?? 0) >= 3));
  const families = new Set(
    histories.flatMap((history) => history?.payloads.map((payload) => payload['malware-family']) ?? []),
  );
  assert.ok(families.size >= 5);
  const lengths = new Set(demo.flatMap(({ addresses }) => addresses.map(({ ip }) => formatIp(ip).includes(':'))));
  assert.equal(lengths.size, 2);
});
