import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import postgres from 'postgres';
import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { until } from '../until.ts';
import { integrityContract } from './contract/integrity.ts';
import { NEW_YEAR, seen } from './contract/observations.ts';
import { lastOf } from './results.ts';
import { openPostgresTables } from './tables.ts';

async function open(t: TestContext) {
  const url = await temporaryDatabase(t);
  const store = await openPostgresIntelligence({ url, readUrls: [], connections: 4 });
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  t.after(async () => {
    await sql.end();
    await store.close();
  });
  return { store, sql };
}

integrityContract(openPostgresTables);

test('a repair waits for a batch that changes the URL, and then finds what the batch has left', async (t) => {
  const { store, sql } = await open(t);
  const url = 'http://a.example/';
  const [ts, later] = [NEW_YEAR, NEW_YEAR + 10];
  await store.apply([seen({ ts, url })]);
  await sql`update urls set event_ts = 1`;
  let repairing: ReturnType<typeof store.repairRows> | undefined;
  await sql.begin(async (batch) => {
    await batch`update urls set event_ts = ${later}, event_kind = 2`;
    await batch`
      insert into events select url_id, ${later}, 2, host_id, removal_id, reporter_id, ${later} from events`;
    repairing = store.repairRows('urls', [0]);
    const waiting = () =>
      batch`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(async () => (await waiting()).length > 0, 'the repair waits');
  });
  assert.deepEqual(await repairing, { rows: 1, faults: [], repaired: [], next: null });
  assert.deepEqual([(await lastOf(store, url))?.status?.ts, (await store.checkRows('urls', [0])).faults], [later, []]);
});
