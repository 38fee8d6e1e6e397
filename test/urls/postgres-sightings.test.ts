import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, NEW_YEAR, seen } from './contract/observations.ts';
import { domainRows, sightingsSuite } from './contract/sightings.ts';
import { openPostgresTables, openSqliteTables } from './tables.ts';

sightingsSuite(openPostgresTables);

const T = NEW_YEAR;
const ROUNDS = 12;

/**
 * URLs of the same domains. Each node has its own URLs: locks of URLs would let one node wait for another. Every round is a
 * day earlier, so that all rows of domains change.
 */
function batchOf(round: number, node: number) {
  return Array.from({ length: 150 }, (_, i) => {
    const at = (i * (node * 2 + 1) * 7 + round) % 150;
    const ts = T - round * DAY + ((at + node) % 20);
    return seen({ ts, url: `http://h${at % 9}.d${at % 15}.example/${at}/${node}`, ip: `192.0.2.${at % 4}` });
  });
}

test('three nodes that write the same domains, and a rebuild beside them, leave the rows of one node', async (t) => {
  const [tables, one] = [await openPostgresTables(t), await openSqliteTables(t)];
  const nodes = await Promise.all([1, 2, 3].map(() => tables.openNode()));
  try {
    let isDone = false;
    const write = Promise.all(
      nodes.map(async (store, node) => {
        for (let round = 0; round < ROUNDS; round++) await store.apply(batchOf(round, node));
      }),
    ).finally(() => {
      isDone = true;
    });
    while (!isDone) await tables.store.rebuildHosts();
    await write;
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const node of nodes.keys()) await one.store.apply(batchOf(round, node));
  }
  assert.deepEqual(await domainRows(tables), await domainRows(one));
  // A transaction that was aborted would have been repeated, without an error. A closed connection has reported its own.
  assert.deepEqual(await tables.rows('select deadlocks from pg_stat_database where datname = current_database()'), [
    '0',
  ]);
});
