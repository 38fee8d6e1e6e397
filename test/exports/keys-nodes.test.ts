import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { Control } from '../../src/app/stores.ts';
import { ADA } from '../app/control-records.ts';
import { postgresControl } from '../postgres-control.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { until } from '../until.ts';

const NODES = 3;

async function openNodes(t: TestContext): Promise<{ url: string; nodes: Control[]; node(i: number): Control }> {
  const url = await temporaryDatabase(t);
  const nodes = await Promise.all(Array.from({ length: NODES }, () => postgresControl(t, url)));
  return { url, nodes, node: (i) => nodes[i % NODES] as Control };
}

const hashOf = (text: string) => createHash('sha256').update(text).digest();
const keyOf = (device: string) => ({ list: 'urls-online', device, sub: ADA.sub, createdTs: 1 });

test('a key that was removed on one node is refused on the others within five seconds', async (t) => {
  const { nodes, node } = await openNodes(t);
  await node(0).addAccount(ADA);
  const id = await node(0).addListKey(keyOf('proxy'), hashOf('proxy'));
  const isFound = async (control: Control) => (await control.findListKey(hashOf('proxy'))) !== null;
  for (const control of nodes) assert.ok(await isFound(control));
  await node(0).removeListKey(id);
  const removedMs = performance.now();
  assert.equal(await isFound(node(0)), false);
  for (const control of nodes) await until(async () => !(await isFound(control)), 'refused', 5_000);
  assert.ok(performance.now() - removedMs < 5_000);
});

test('no key is added to an account or a list that is being removed', async (t) => {
  const { node } = await openNodes(t);
  for (let i = 0; i < 20; i++) {
    const account = { ...ADA, sub: `${20_000_000 + i}`, usernameKey: `${i}` };
    await node(0).addAccount(account);
    const added = node(1).addListKey({ ...keyOf('x'), sub: account.sub }, hashOf(randomUUID()));
    await Promise.all([added.catch(() => {}), node(2).removeAccount(account.sub, 1)]);
    assert.deepEqual(await node(0).listKeys({}), []);
  }
});

test('serials grow by one for each content, on concurrent nodes', async (t) => {
  const { node } = await openNodes(t);
  const serialOf = (i: number, content: string) => node(i).listSerial('urls-online', hashOf(content), 1_000);
  for (let round = 0; round < 20; round++) {
    const same = await Promise.all(Array.from({ length: 6 }, (_, i) => serialOf(i, `round ${round}`)));
    assert.deepEqual([...new Set(same)], [1_000 + round]);
  }
  const seen = await Promise.all(Array.from({ length: 30 }, (_, i) => serialOf(i, `content ${i}`)));
  assert.deepEqual(
    seen.toSorted((a, b) => a - b),
    Array.from({ length: 30 }, (_, i) => 1_020 + i),
  );
});

test('the last fetch is written when a node is closed, and never replaced by an older one', async (t) => {
  const { url, node } = await openNodes(t);
  await node(0).addAccount(ADA);
  const id = await node(0).addListKey(keyOf('proxy'), hashOf('proxy'));
  const fetchAt = (ts: number) => ({ ts, address: `192.0.2.${ts}`, etag: `"${ts}"` });
  for (const ts of [7, 9, 8]) await node(0).recordFetch(id, fetchAt(ts));
  await node(1).recordFetch(id, fetchAt(3));
  await node(1).recordFetch(id + 1, fetchAt(4));
  assert.equal((await node(2).listKey(id))?.lastFetch, null, 'a fetch alone writes nothing');
  await node(0).close();
  await node(1).close();
  assert.deepEqual((await node(2).listKey(id))?.lastFetch, fetchAt(9));
  assert.deepEqual((await (await postgresControl(t, url)).findListKey(hashOf('proxy')))?.lastFetch, fetchAt(9));
});
