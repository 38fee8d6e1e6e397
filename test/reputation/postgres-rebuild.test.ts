import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { NEW_YEAR, seen } from '../urls/contract/observations.ts';
import { openPostgresTables } from '../urls/tables.ts';
import { rebuildSuite } from './contract/rebuild.ts';

rebuildSuite(openPostgresTables);

test('a page waits for batches, which may have read the domain that a host had before', async (t) => {
  const { store, run, rows } = await openPostgresTables(t);
  await store.apply([seen({ ts: NEW_YEAR, url: 'http://a.example/' })]);
  await run('update hosts set domain_id = null; delete from url_sightings');
  // What every batch does, whether a host is new or not.
  await run(`begin; insert into hosts (host) select 'a.example' where false`);
  const page = store.rebuildHosts();
  while ((await rows('select 1 from pg_locks where not granted')).length === 0) await setTimeout(5);
  await run('commit');
  assert.equal((await page).hostsChanged, 1);
});
