import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../until.ts';
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
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => (await rows(waiting)).length > 0, 'the page waits');
  await run('commit');
  assert.equal((await page).hostsChanged, 1);
});
