import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { ADDRESS_DATASETS, NAME_LIST_KINDS, NETWORK_LIST_KINDS } from '../../src/core/evidence.ts';
import { formatIp } from '../../src/core/ip/address.ts';
import { parseNetwork } from '../../src/core/ip/network.ts';
import { DEMO_NETWORKS, demoObservations } from '../../src/ingest/demo.ts';
import { DEMO_BULK_FIRST, demoBulk } from '../../src/ingest/demo-bulk.ts';
import { demoEvidence } from '../../src/ingest/demo-evidence.ts';
import { demoFeeds } from '../../src/ingest/demo-feeds.ts';
import { FAMILY_NAMES } from '../../src/ingest/family-names.ts';
import { feedState } from '../../src/ingest/feeds/feed-state.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { historyOf } from '../urls/results.ts';

const NOW = 1_794_700_000;
const demo = demoObservations(NOW);
const bulk = [...demoBulk(NOW)].flat();
const evidence = demoEvidence(NOW);

const documentation = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'].map((text) => {
  const parsed = parseNetwork(text);
  assert.ok(parsed.ok);
  return parsed.network.ranges[0];
});
const RESERVED_NAME = /(^|\.)(example(\.(com|net|org))?|test|invalid)$/;

function assertReserved(ip: Uint8Array): void {
  const isReserved = documentation.some(
    (range) => range && Buffer.compare(range[0], ip) <= 0 && Buffer.compare(ip, range[1]) <= 0,
  );
  assert.ok(isReserved, formatIp(ip));
}

test('demo data uses only reserved host names, addresses and AS numbers', () => {
  const asns = new Set(DEMO_NETWORKS.map(({ asn }) => asn));
  for (const { host, addresses, url } of [...demo, ...bulk]) {
    assert.ok(RESERVED_NAME.test(host) || /^[\d.]+$|^\[/.test(host), url);
    for (const { ip, asn } of addresses) {
      assertReserved(ip);
      assert.ok(asn !== null && asns.has(asn), `AS${asn} has no name`);
    }
  }
});

test('the AS numbers of the demo data are reserved for documentation', () => {
  for (const { asn } of DEMO_NETWORKS) assert.ok((asn >= 64_496 && asn <= 64_511) || (asn >= 65_536 && asn <= 65_551));
});

test('demo evidence uses only reserved names and addresses', () => {
  const { listings, domains, facts, lists } = evidence;
  const networks = [...listings, ...lists].flatMap((one) => ('network' in one ? [one.network] : []));
  for (const { ip } of networks) assertReserved(ip);
  for (const fact of facts) {
    for (const ip of fact.kind === 'a' ? fact.ips : fact.kind === 'sender' ? [fact.ip] : []) assertReserved(ip);
  }
  const servers = facts.flatMap((fact) => (fact.kind === 'ns' ? fact.servers : []));
  const names = [...domains, ...facts].map(({ name }) => name);
  for (const { hostname } of [...names, ...servers]) assert.match(hostname, RESERVED_NAME);
});

test('demo evidence has every dataset of addresses, every fact and every list, and sources for all of them', () => {
  const { sources, listings, domains, facts, lists } = evidence;
  const kindsIn = (values: readonly string[]) => [...new Set(values)].toSorted();
  assert.deepEqual(kindsIn(listings.map(({ dataset }) => dataset)), ADDRESS_DATASETS.toSorted());
  assert.deepEqual(kindsIn(facts.map(({ kind }) => kind)), ['a', 'ns', 'rank', 'sender', 'whois']);
  const listKinds = kindsIn(lists.map((entry) => entry.as));
  assert.deepEqual(listKinds, kindsIn([...NAME_LIST_KINDS, ...NETWORK_LIST_KINDS]));
  const named = kindsIn([...listings, ...domains, ...lists].map(({ source }) => source));
  assert.deepEqual(named, sources.map(({ name }) => name).toSorted());
});

test('demo data is in the past and inside the default search window', () => {
  const { listings, domains, facts } = evidence;
  for (const { ts } of [...demo, ...listings, ...domains, ...facts]) {
    assert.ok(ts <= NOW && ts > NOW - 300 * 86_400);
  }
});

test('the many URLs fill a subnet, a host and a year, and are the same at every time', () => {
  const urls = new Set(bulk.map(({ url }) => url));
  const firstTs = new Map(bulk.toReversed().map(({ url, ts }) => [url, ts]));
  const count = (text: string) => [...urls].filter((url) => url.includes(text)).length;
  assert.ok(urls.size >= 1_500 && count('//203.0.113.') >= 400 && count('//cdn.filedrop.example/') === 300);
  const daysAgo = bulk.map(({ ts }) => Math.floor((NOW - ts) / 86_400));
  assert.ok(Math.min(...daysAgo) === 0 && Math.max(...daysAgo) > 300 && Math.max(...daysAgo) < 365);
  const statusOf = (url: string) =>
    bulk.filter((one) => one.url === url && one.status !== null).map(({ status }) => status);
  assert.deepEqual(statusOf(DEMO_BULK_FIRST), ['online', 'offline', 'online', 'offline', 'online', 'online']);
  const firstTimes = [...urls].map((url) => firstTs.get(url) ?? 0);
  assert.deepEqual(
    firstTimes,
    firstTimes.toSorted((a, b) => a - b),
    'the URLs that are added last are the newest',
  );
  const known = new Set<string>(FAMILY_NAMES);
  for (const { payload } of bulk) assert.ok(payload === null || known.has(payload.family ?? ''), `${payload?.family}`);
  assert.deepEqual([...demoBulk(NOW)].flat(), bulk);
});

test('there is a demo feed in each state, on a reserved host, and none is ever due', () => {
  const { feeds, runs } = demoFeeds(NOW);
  assert.deepEqual(
    feeds.map((feed) => [feed.name, feedState(feed, NOW)]),
    [
      ['demo-urls', 'ok'],
      ['demo-late', 'stale'],
      ['demo-failing', 'failing'],
    ],
  );
  for (const { name, url, nextRunTs } of feeds) {
    assert.match(new URL(url).hostname, RESERVED_NAME);
    assert.ok(nextRunTs > NOW + 300 * 86_400);
    assert.equal(runs.filter(({ start }) => start.feed === name).length, 14);
  }
  for (const { start, end, rejects } of runs) {
    assert.ok(start.startedTs <= NOW && end.finishedTs > start.startedTs && end.counts.rejected === rejects.length);
  }
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
