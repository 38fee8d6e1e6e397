import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Intelligence } from '../../src/app/stores.ts';
import type { Source } from '../../src/core/evidence.ts';
import { formatKeyNetwork, parseKeyNetwork } from '../../src/core/ip/key-network.ts';
import { printDomainEvidence, printFact, printListing } from '../../src/ingest/evidence-json.ts';
import { findFormat } from '../../src/ingest/formats/formats.ts';
import type { ImportOptions } from '../../src/ingest/import.ts';
import type { Format } from '../../src/ingest/sources/format.ts';
import { feedOf } from './feeds/feed-of.ts';
import { importWorld, NOW_TS, textSource, type World } from './import-world.ts';

const DAY = 86_400;

function format(name: string): Format {
  const found = findFormat(name);
  assert.ok(found !== null);
  return found;
}

type Options = Partial<ImportOptions>;

function importText(world: World, name: string, text: string, options: Options = {}) {
  return world.run({ format: format(name), source: textSource(text), allowReserved: true, ...options });
}

async function exported(store: Intelligence): Promise<string[]> {
  const lines: string[] = [];
  for await (const page of store.exportListings()) lines.push(...page.map(printListing));
  for await (const page of store.exportDomains()) {
    for (const one of page)
      lines.push('source' in one && 'confidence' in one ? printDomainEvidence(one) : printFact(one));
  }
  return lines;
}

async function listed(store: Intelligence): Promise<string[]> {
  const { entries } = await store.addressLists();
  return entries.map(({ as, network, source }) => `${source}: ${as} ${formatKeyNetwork(network)}`).sort();
}

async function sourcesOf(store: Intelligence, ...networks: string[]): Promise<Source[]> {
  const sources: Source[] = [];
  for (const text of networks) {
    const network = parseKeyNetwork(text);
    assert.ok(network !== null);
    const query = { network, inside: true, covering: false, datasets: ['XBL'], seenSinceTs: 0 } as const;
    for (const { source } of await store.listings(query)) {
      const { id: _, ...values } = source;
      sources.push(values);
    }
  }
  return sources;
}

const LINES = [
  '{"ts":1790000000,"ip":"192.0.2.7","dataset":"BCL","feed":"a","listed":1789000000,"botname":"Mirai","dstport":443,"cc":"DE"}',
  '{"ts":1790000000,"cidr":"198.51.100.0/24","dataset":"DROP","feed":"a"}',
  '{"ts":1790000000,"domain":"www.example.com","kind":"phishing","feed":"b","confidence":75,"abused":true,"tags":["phishing"]}',
  '{"ts":1790000000,"domain":"example.com","a":["192.0.2.7"]}',
  '{"ts":1790000000,"domain":"example.com","whois":{"created":1700000000,"registrar":"R"}}',
  '{"ts":1790000000,"domain":"example.com","feed":"top","rank":7}',
].map((line) => `${line}\n`);

suite('an import of evidence', () => {
  test('stores every kind of it; the same again changes nothing, and an export is the same lines', async (t) => {
    const world = await importWorld(t);
    const first = await importText(world, 'ndjson', LINES.join(''));
    assert.deepEqual([first.evidence, first.rejected, first.listingsChanged], [6, 0, 2]);
    assert.ok(first.domainsChanged > 0);
    const lines = await exported(world.store);
    assert.deepEqual([...lines].sort(), LINES.map((line) => line.trim()).sort());
    const again = await importText(world, 'ndjson', lines.join('\n'));
    assert.deepEqual([again.evidence, again.listingsChanged, again.domainsChanged], [6, 0, 0]);
    assert.deepEqual(await exported(world.store), lines);
    const [record] = await world.control.imports({ limit: 1 });
    assert.equal(record?.counts.evidence, 6);
  });

  test('a source has the trust of the feed of its name, otherwise that of the import', async (t) => {
    const world = await importWorld(t);
    await world.control.addFeed(
      feedOf({ name: 'defined', trustPermille: 300, lifeSeconds: DAY, intervalSeconds: 600 }),
    );
    const line = (ip: string, feed: string) => `{"ts":5,"ip":"${ip}","dataset":"XBL"${feed}}\n`;
    const text =
      line('192.0.2.1', '') +
      line('192.0.2.2', ',"feed":"defined"') +
      line('192.0.2.3', ',"feed":"other"') +
      line('192.0.2.4', ',"feed":"operator"');
    await importText(world, 'ndjson', text, { feed: 'own', trustPermille: 200, lifeSeconds: 2 * DAY });
    assert.deepEqual(await sourcesOf(world.store, '192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'), [
      { name: 'own', trustPermille: 200, lifeSeconds: 2 * DAY, intervalSeconds: null },
      { name: 'defined', trustPermille: 300, lifeSeconds: DAY, intervalSeconds: 600 },
      { name: 'other', trustPermille: 200, lifeSeconds: 2 * DAY, intervalSeconds: null },
      { name: 'operator', trustPermille: 900, lifeSeconds: null, intervalSeconds: null },
    ]);
    await importText(world, 'ndjson', line('192.0.2.2', ''), { feed: 'defined' });
    assert.equal((await sourcesOf(world.store, '192.0.2.2'))[0]?.trustPermille, 300);
    await importText(world, 'ndjson', line('192.0.2.2', ''), { feed: 'defined', trustPermille: 100 });
    assert.equal((await sourcesOf(world.store, '192.0.2.2'))[0]?.trustPermille, 100);
  });

  test('reserved networks and networks on an allow list are rejects', async (t) => {
    const world = await importWorld(t);
    await importText(world, 'ip-list', '192.0.2.0/28\n', { listKind: 'allow' });
    const report = await importText(world, 'ip-list', '192.0.2.1\n192.0.2.16\n', { dataset: 'XBL' });
    assert.deepEqual([report.listingsChanged, report.rejected], [1, 1]);
    assert.deepEqual(report.firstRejects, [{ line: 1, reason: '"192.0.2.1" is on an allow list', text: '192.0.2.1' }]);
    // An IPv4 address is stored as an IPv6 address that this network contains.
    await importText(world, 'ip-list', '::/16\n', { listKind: 'allow', feed: 'wide' });
    assert.equal((await importText(world, 'ip-list', '192.0.2.17\n', { dataset: 'XBL' })).rejected, 0);
    const strict = await importText(world, 'ip-list', '192.0.2.16\n', { dataset: 'XBL', allowReserved: false });
    assert.match(strict.firstRejects[0]?.reason ?? '', /reserved network is never listed/);
  });

  test('entries that the new version of a list lacks are deleted, in its own source only', async (t) => {
    const world = await importWorld(t);
    const list = (text: string, options: Options) =>
      importText(world, 'ip-list', text, { listKind: 'shared', ...options });
    await list('192.0.2.1\n', { feed: 'other', asOfTs: NOW_TS - 9 });
    await list('192.0.2.1\n192.0.2.2\n', { asOfTs: NOW_TS - 5 });
    const { listsChanged } = await list('192.0.2.2\n192.0.2.3\n', {});
    assert.ok(listsChanged >= 2);
    const newest = ['feed: shared 192.0.2.2', 'feed: shared 192.0.2.3', 'other: shared 192.0.2.1'];
    assert.deepEqual(await listed(world.store), newest);

    const useless = await list('nonsense\n', { asOfTs: NOW_TS + 1 });
    assert.deepEqual([useless.outcome, await listed(world.store)], ['failed', newest]);
    const cutOff = await list('192.0.2.4\n192.0.', { asOfTs: NOW_TS + 2 });
    assert.deepEqual([cutOff.outcome, (await listed(world.store)).length], ['refused', 4]);
    assert.match(cutOff.error ?? '', /may be cut off.*--force/);
    const stopped = await list('192.0.2.4\n', { asOfTs: NOW_TS + 3, signal: AbortSignal.abort() });
    assert.deepEqual([stopped.outcome, (await listed(world.store)).length], ['stopped', 4]);
    await list('192.0.2.4\n192.0.', { asOfTs: NOW_TS + 4, isForced: true });
    assert.deepEqual(await listed(world.store), ['feed: shared 192.0.2.4', 'other: shared 192.0.2.1']);
  });

  test('a version of a list that would delete more than half of it is refused, unless it is forced', async (t) => {
    const world = await importWorld(t);
    const [networks, sites] = [
      (n: number) => Array.from({ length: n }, (_, i) => `192.0.2.${i}\n`).join(''),
      (n: number) => Array.from({ length: n }, (_, i) => `${i + 1},name${i}.example\n`).join(''),
    ];
    for (const [name, list, options] of [
      ['ip-list', networks, { listKind: 'shared', feed: 'tor' }],
      ['top-list', sites, { feed: 'popular' }],
    ] as const) {
      const version = (n: number, asOfTs: number, more: Options = {}) =>
        importText(world, name, list(n), { ...options, ...more, asOfTs });
      await version(20, NOW_TS - 9);
      const { outcome, error } = await version(9, NOW_TS - 8);
      assert.equal(outcome, 'refused');
      const reason = `The list would delete 11 of the 20 entries of ${options.feed}, more than half.`;
      const advice = 'If the source is complete, run it again with --force.';
      assert.equal(error, `${reason} Its entries were applied, but none was deleted. ${advice}`);
      assert.equal((await version(10, NOW_TS - 7)).outcome, 'done');
      assert.equal((await version(1, NOW_TS - 6)).outcome, 'done', 'a short list is edited by hand');
      await version(20, NOW_TS - 5);
      assert.equal((await version(1, NOW_TS - 4, { isForced: true })).outcome, 'done');
      assert.deepEqual(await world.store.listEffect(options.feed, NOW_TS), { entries: 1, missing: 1 });
    }
  });

  test('a JSON list that ends in a rejected entry is whole; one that is cut off changes nothing', async (t) => {
    const world = await importWorld(t);
    const list = (entries: string, asOfTs: number) =>
      importText(world, 'misp-warninglist', `{"type":"cidr","list":[${entries}]}`, { listKind: 'shared', asOfTs });
    await list('"192.0.2.1"', NOW_TS - 5);
    const { outcome, rejected } = await list('"192.0.2.2","0.0.0.0/0"', NOW_TS);
    assert.deepEqual([outcome, rejected, await listed(world.store)], ['done', 1, ['feed: shared 192.0.2.2']]);
    const cutOff = importText(world, 'misp-warninglist', '{"list":["192.0.2.3"', { listKind: 'shared' });
    await assert.rejects(cutOff, { code: 'bad_request' });
    assert.deepEqual(await listed(world.store), ['feed: shared 192.0.2.2']);
  });

  test('ranks that the new version of a popularity list lacks are deleted', async (t) => {
    const world = await importWorld(t);
    const rankOf = async (name: string) => (await world.store.domainState(name))?.lists.map(({ rank }) => rank) ?? null;
    await importText(world, 'top-list', '1,example.com\n2,example.org\n', { asOfTs: NOW_TS - 5 });
    await importText(world, 'top-list', '1,example.org\n');
    assert.deepEqual([await rankOf('example.com'), await rankOf('example.org')], [null, [1]]);
  });

  test('warning lists without the name of a feed do not replace each other', async (t) => {
    const world = await importWorld(t);
    for (const [name, network] of [
      ['one', '192.0.2.1'],
      ['two', '192.0.2.2'],
    ]) {
      const text = JSON.stringify({ name, type: 'cidr', list: [network] });
      await importText(world, 'misp-warninglist', text, { listKind: 'shared', isUnnamed: true });
    }
    assert.deepEqual(await listed(world.store), ['one: shared 192.0.2.1', 'two: shared 192.0.2.2']);
  });

  test('an old DROP list that is imported after a new one does not become newer', async (t) => {
    const list = (ts: number, network: string) =>
      `{"cidr":"192.0.2.0/24"}\n{"cidr":"${network}"}\n{"type":"metadata","timestamp":${ts}}\n`;
    const lists = [list(NOW_TS - 2 * DAY, '198.51.100.0/24'), list(NOW_TS - DAY, '203.0.113.0/24')];
    const results: string[][] = [];
    for (const order of [lists, lists.toReversed()]) {
      const world = await importWorld(t);
      for (const text of order) await importText(world, 'drop-json', text);
      results.push(await exported(world.store));
    }
    assert.deepEqual(results[0], results[1]);
    assert.equal(results[0]?.length, 3);
  });

  test('a dry run checks evidence and writes nothing', async (t) => {
    const world = await importWorld(t);
    const report = await importText(world, 'ndjson', LINES.join(''), { into: null });
    assert.deepEqual([report.evidence, report.id], [6, null]);
    assert.deepEqual(await exported(world.store), []);
  });

  test('an import with too many sources fails', async (t) => {
    const world = await importWorld(t);
    const lines = Array.from({ length: 1_001 }, (_, i) => `{"ts":5,"ip":"192.0.2.1","dataset":"XBL","feed":"f${i}"}\n`);
    await assert.rejects(importText(world, 'ndjson', lines.join('')), /more than 1000 sources/);
  });
});
