import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { freePort } from '../servers/child.ts';
import { makeDatabase, temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startReusedServer } from './server.ts';

test('a replica that cannot be used is in the log, with the reason, and in the metrics until it is back', async (t) => {
  const empty = await makeDatabase();
  const missing = empty.replace(/[^/]+$/, 'no_such_database');
  const closed = `postgres://postgres:hunter2@127.0.0.1:${await freePort()}/x`;
  const urls = [await temporaryDatabase(t), closed, missing, empty];
  const args = ['--database-url', urls[0] as string, '--database-read-url', urls.join(), '--metrics-port', '0'];
  const server = await startReusedServer(t, [...args, '--data', temporaryFolder(t)]);

  const lines = () =>
    server
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"pool"'))
      .map((line) => JSON.parse(line))
      .sort((one, other) => one.pool.localeCompare(other.pool));
  await until(() => lines().length === 3, 'the replicas are logged');
  const down = 'a replica is down; its queries go to others or to the primary until it is back';
  for (const [i, reason] of [/ECONNREFUSED/, /"no_such_database" does not exist/, /lacks tables/].entries()) {
    const { level, msg, pool, reason: logged } = lines()[i];
    assert.deepEqual([level, msg, pool], [40, down, `replica ${i + 2}`]);
    assert.match(logged, reason);
  }
  const up = async () => {
    const text = await (await fetch(/^Metrics: (\S+)$/m.exec(server.stdout())?.[1] ?? '')).text();
    return [...text.matchAll(/^urlwarden_replica_up\{pool="replica \d"\} (\d)$/gm)].map(([, value]) => value).join('');
  };
  assert.equal(await up(), '1000');

  await (await openIntelligence({ dataDir: '', databaseUrl: empty })).close();
  await until(() => lines().length === 4, 'the end is logged');
  assert.equal(lines()[3].msg, 'a replica is back');
  assert.equal(await up(), '1001');
  assert.equal(await server.stop('SIGTERM'), 0);
  assert.equal(lines().length, 4, 'logged once');
  assert.doesNotMatch(server.stderr(), /hunter2/);
});
