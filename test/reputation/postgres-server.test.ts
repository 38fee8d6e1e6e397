import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import postgres from 'postgres';
import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { type Intelligence, openIntelligence } from '../../src/app/stores.ts';
import { DOMAIN_KINDS, type DomainEvidence, type DomainFact, type Source } from '../../src/core/evidence.ts';
import { networkAt } from '../../src/core/ip/key-network.ts';
import { PLANNING } from '../../src/database/postgres/connection-pool.ts';
import { openDatabase } from '../../src/database/postgres/database.ts';
import * as derived from '../../src/reputation/postgres/derived.ts';
import * as exports from '../../src/reputation/postgres/domain-export.ts';
import * as reads from '../../src/reputation/postgres/domain-reads.ts';
import * as states from '../../src/reputation/postgres/domain-state.ts';
import { createReputationStore } from '../../src/reputation/postgres/store.ts';
import type { ReputationStore } from '../../src/reputation/store.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { collect, DAY, NEW_YEAR, seen } from '../urls/contract/observations.ts';
import { listed } from './contract/evidence.ts';

const T = NEW_YEAR;

test('nodes that name the same domains at the same time lose no sighting, and never end in a deadlock', async (t) => {
  const url = await temporaryDatabase(t);
  await openNode(t, url);
  const attempts = { count: 0 };
  const nodes = [1, 2, 3].map(() => openCounted(t, url, attempts));
  const serial = await openIntelligence({ dataDir: temporaryFolder(t) });
  t.after(() => serial.close());
  const inParallel = (batches: Batch[]) =>
    Promise.all(batches.map((batch, i) => nodes[i % nodes.length]?.applyDomains(...batch)));
  let calls = 0;
  // Every round has its own names. Each node adds the same rows in another order.
  for (let round = 0; round < 3; round++) {
    const batches = Array.from({ length: 9 }, (_, node) => batchOf(round, node));
    const factsAlone = batches.slice(6).map(([, facts]): Batch => [[], facts]);
    await inParallel(batches.slice(0, 3));
    await inParallel(batches.slice(3, 6));
    await inParallel(factsAlone);
    for (const batch of [...factsAlone, ...batches.slice(0, 6)].reverse()) await serial.applyDomains(...batch);
    calls += batches.length;
  }
  assert.deepEqual(await allOf(nodes[0] as ReputationStore), await allOf(serial));
  // A transaction is repeated after a deadlock.
  assert.equal(attempts.count, calls);
});

test('a source is set while a batch adds another one: no deadlock', async (t) => {
  const url = await temporaryDatabase(t);
  await (await openNode(t, url)).putSources([sourceOf('a')]);
  const attempts = { count: 0 };
  const [first, second] = [openCounted(t, url, attempts), openCounted(t, url, attempts)];
  const sql = postgres(url, { max: 2, onnotice: () => {} });
  t.after(() => sql.end());
  const waiting = async () => {
    const [row] = await sql`
      select count(*)::integer as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return row?.count;
  };
  const writes = await sql.begin(async (transaction) => {
    await transaction`select 1 from sources where name = 'a' for update`;
    const put = first.putSources([sourceOf('a'), sourceOf('b')]);
    await until(async () => (await waiting()) === 1, 'putSources waits');
    const evidence = ['a', 'b'].map((source) => listed('192.0.2.1', { source }));
    const applied = second.applyListings(evidence);
    await until(async () => (await waiting()) === 2, 'applyListings waits');
    return { put, applied };
  });
  await Promise.all(Object.values(writes));
  assert.equal(attempts.count, 2);
});

function sourceOf(name: string): Source {
  return { name, trustPermille: 500, lifeSeconds: DAY, intervalSeconds: null };
}

/** A store of its own connections that counts how often a transaction was tried. */
function openCounted(t: TestContext, url: string, attempts: { count: number }): ReputationStore {
  const db = openDatabase(url, { connections: 2, role: 'read-write' });
  t.after(() => db.close());
  const transaction: typeof db.transaction = (work) =>
    db.transaction((session) => {
      attempts.count++;
      return work(session);
    });
  return createReputationStore({ ...db, transaction }, db.query);
}

type Batch = [evidence: DomainEvidence[], facts: DomainFact[]];

function batchOf(round: number, node: number): Batch {
  const domain = `d${round}.example`;
  const name = (i: number) => ({ hostname: `h${i % 100}.${domain}`, domain });
  const evidence = Array.from({ length: 600 }, (_, i): DomainEvidence => {
    return {
      source: `feed ${round} ${i % 2}`,
      name: name(i),
      kind: DOMAIN_KINDS[i % 3] ?? 'malware',
      ts: T + ((i * 7 + node * 11) % 23) * DAY,
      confidence: 1 + ((i * 13 + node * 31) % 100),
      botname: `of ${node}`,
      isAbused: null,
      tags: [],
    };
  });
  const whois = { createdTs: node, expiresTs: null, registrar: `of ${node}` };
  const facts: DomainFact[] = [
    ...evidence.map(({ ts }, i): DomainFact => {
      return { kind: 'a', ts: T + node, name: name(ts), ips: [Uint8Array.of(...Buffer.alloc(15), i % 256)] };
    }),
    { kind: 'ns', ts: T + node, name: name(0), servers: [{ hostname: 'ns.dns.example', domain: 'dns.example' }] },
    { kind: 'sender', ts: T + node, name: name(0), ip: new Uint8Array(16), helo: '' },
    { kind: 'whois', ts: T, name: name(0), ...whois },
    { kind: 'rank', ts: T, name: { hostname: domain, domain }, source: `top ${round}`, rank: 9 - node },
  ];
  return node % 2 === 0 ? [evidence, facts] : [evidence.reverse(), facts.reverse()];
}

test('addresses that are asked for at the same time are read with a few statements', async (t) => {
  const url = await temporaryDatabase(t);
  const node = await openNode(t, url);
  const ips = Array.from({ length: 60 }, (_, i) => `192.0.2.${i}`);
  await node.applyListings([
    listed('192.0.2.1', { dataset: 'XBL' }),
    listed('192.0.2.1', { dataset: 'BCL' }),
    { ...listed('192.0.2.0', { dataset: 'XBL' }), network: { ...listed('192.0.2.0').network, prefix: 122 } },
  ]);
  await node.apply([seen({ ts: T, url: 'http://192.0.2.2/' })]);
  const db = openDatabase(url, { connections: 4, role: 'read-write' });
  t.after(() => db.close());
  let statements = 0;
  const { listings } = createReputationStore(db, (...query) => {
    statements++;
    return db.query(...query);
  });
  const filter = { inside: true, covering: true, datasets: ['XBL', 'BCL'], seenSinceTs: 0 } as const;
  const find = async (ip: string) => {
    const found = await listings({ ...filter, network: listed(ip).network });
    return found.map(({ network, dataset, source }) => `${network.prefix} ${dataset} ${source.name}`).sort();
  };
  const together = await Promise.all(ips.map(find));
  assert.ok(statements <= 3, `${statements}`);
  assert.deepEqual([together[0]?.length, together[1]?.length, together[2]?.length, together[59]?.length], [1, 3, 2, 1]);
  for (const [i, ip] of ips.slice(0, 5).entries()) assert.deepEqual(await find(ip), together[i]);
});

test('an address with any number of listings is read in statements of bounded size', async (t) => {
  const url = await temporaryDatabase(t);
  const node = await openNode(t, url);
  const count = 3_400;
  const ports = Array.from({ length: count }, (_, i) => listed('192.0.2.1', { dataset: 'BCL', port: i + 1 }));
  for (let at = 0; at < count; at += 1_700) await node.applyListings(ports.slice(at, at + 1_700));
  const db = openDatabase(url, { connections: 4, role: 'read-write' });
  t.after(() => db.close());
  let maxRows = 0;
  const { listings } = createReputationStore(db, async (...query) => {
    const rows = await db.query<never>(...query);
    maxRows = Math.max(maxRows, rows.length);
    return rows;
  });
  const { network } = listed('192.0.2.1');
  for (const asked of [network, networkAt(network.ip, 120)]) {
    const query = { network: asked, inside: true, covering: true, datasets: ['BCL'], seenSinceTs: 0 } as const;
    assert.equal((await listings(query)).length, count);
  }
  assert.ok(maxRows <= 2_000, `${maxRows}`);
});

test('networks with many listings are read once for all addresses that are asked for at the same time', async (t) => {
  const url = await temporaryDatabase(t);
  const node = await openNode(t, url);
  const ports = Array.from({ length: 2_100 }, (_, i) => i + 1);
  const ips = Array.from({ length: 250 }, (_, i) => `192.0.2.${i}`);
  await node.applyListings(ports.map((port) => listed('192.0.2.0/24', { dataset: 'BCL', port })));
  await node.applyListings(ports.slice(0, 30).map((port) => listed('192.0.0.0/16', { dataset: 'BCL', port })));
  for (let at = 0; at < ips.length; at += 50) {
    const some = ips.slice(at, at + 50).flatMap((ip, i) => ports.slice(0, i).map((port) => ({ ip, port })));
    await node.applyListings(some.map(({ ip, port }) => listed(ip, { dataset: 'BCL', port })));
  }
  const db = openDatabase(url, { connections: 4, role: 'read-write' });
  t.after(() => db.close());
  let statements = 0;
  let maxRows = 0;
  let onRead = () => {};
  const { listings } = createReputationStore(db, async (...query) => {
    statements++;
    onRead();
    const rows = await db.query<never>(...query);
    maxRows = Math.max(maxRows, rows.length);
    return rows;
  });
  const find = async (ip: string, signal?: AbortSignal) => {
    const filter = { inside: true, covering: true, datasets: ['BCL'], seenSinceTs: 0 } as const;
    return listings({ ...filter, network: listed(ip).network, signal });
  };
  const together = await Promise.all(ips.map((ip) => find(ip)));
  // Of each 100 addresses: all networks, how many rows each has, the /24 in two pages, three groups of the others.
  assert.ok(statements <= 3 * 8, `${statements}`);
  assert.ok(maxRows <= 2_000, `${maxRows}`);
  assert.deepEqual(
    together.map(({ length }) => length),
    ips.map((_, i) => 30 + ports.length + (i % 50)),
  );
  for (const i of [0, 49, 120]) assert.deepEqual(together[i], await find(ips[i] as string));

  const stop = new AbortController();
  const aborted = ips.slice(0, 50).map((ip) => find(ip, stop.signal));
  const rest = Promise.all(ips.slice(50, 60).map((ip) => find(ip)));
  onRead = () => stop.abort(new Error('too late'));
  await Promise.allSettled(aborted);
  assert.deepEqual(await rest, together.slice(50, 60));

  statements = 0;
  onRead = () => {};
  const none = AbortSignal.abort(new Error('too late'));
  const all = await Promise.allSettled(ips.slice(0, 100).map((ip) => find(ip, none)));
  assert.ok(all.every(({ status }) => status === 'rejected'));
  assert.ok(statements <= 6, `${statements}`);
});

test('every read of a domain, and of the hosts of an address, uses indexes, also while the tables are empty', async (t) => {
  const url = await temporaryDatabase(t);
  const store = await openNode(t, url);
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: PLANNING });
  t.after(() => sql.end());
  const checkPlans = async () => {
    for (const [name, text] of [states, reads, exports, derived].flatMap((file) => Object.entries(file))) {
      if (typeof text !== 'string') continue;
      const plan = (await sql.unsafe(`explain (generic_plan) ${text}`)).map((row) => row['QUERY PLAN']).join('\n');
      assert.doesNotMatch(plan, /Seq Scan|(?<!Incremental )Sort {2}|Hash|Bitmap|Materialize/, `${name}:\n${plan}`);
      assert.equal(plan.match(/Index Cond/g)?.length, plan.match(/Index (?:Only )?Scan/g)?.length, `${name}:\n${plan}`);
    }
  };
  await checkPlans();
  for (let round = 0; round < 10; round++) await store.applyDomains(...batchOf(round, 0));
  await sql`analyze`;
  await checkPlans();
});

async function openNode(t: TestContext, url: string): Promise<Intelligence> {
  const store = await openPostgresIntelligence({ url, readUrls: [], connections: 4 });
  t.after(() => store.close());
  return store;
}

function allOf(store: ReputationStore): Promise<(DomainEvidence | DomainFact)[]> {
  return collect(store.exportDomains());
}
