import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hangPostgres, runPostgres, startPostgres } from '../servers/postgres.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const ADA = { username: 'ada', password: 'correct horse' };
const LAST = '/api/intel/v2/byobject/url/last';

test('while PostgreSQL hangs or is down, readiness and metrics answer without waiting for it, and the log has two lines for an outage', {
  timeout: 120_000,
}, async (t) => {
  const first = await startPostgres();
  t.after(() => first.remove());
  const args = ['--database-url', first.url];
  assert.equal((await urlwarden(['account', 'add', 'ada', '--tier', 'operator', ...args], ADA.password)).code, 0);
  const server = await startServer(t, [...args, '--data', temporaryFolder(t), '--metrics-port', '0']);
  const headers = { authorization: `Bearer ${await tokenOf(server.url, ADA)}` };
  const metricsUrl = /^Metrics: (\S+)$/m.exec(server.stdout())?.[1] ?? '';

  const readiness = async () => {
    const [ready, metrics] = await Promise.all([inTime(`${server.url}/readyz?verbose`), inTime(metricsUrl)]);
    const up = /^urlwarden_database_up (\d)$/m.exec(metrics.body)?.[1];
    return `${ready.status} ${JSON.parse(ready.body).message ?? 'ok'}, up ${up}`;
  };
  const becomes = (state: string) => until(async () => (await readiness()) === state, state);
  const messages = () =>
    server
      .stderr()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).msg);
  const OUTAGE = [
    'a database or service is unavailable; requests that need it get 503 until it is back',
    'the database or service is back',
  ];

  await becomes('200 ok, up 1');
  const { body } = await inTime(metricsUrl);
  assert.match(body, /^urlwarden_database_connections_max\{pool="data"\} 10$/m);
  assert.match(body, /^urlwarden_database_connections\{pool="control",state="in_use"\} \d+$/m);

  const resume = await hangPostgres(first);
  t.after(resume);
  await becomes('503 The database does not answer, up 0');
  resume();
  await becomes('200 ok, up 1');
  await first.stop('SIGQUIT');
  await becomes('503 The database does not answer, up 0');
  const statuses = new Set<number>();
  for (let i = 0; i < 100; i++) {
    const url = `http://192.0.2.1/${i}`;
    const response = await fetch(server.url + LAST, { method: 'POST', headers, body: JSON.stringify({ url }) });
    statuses.add(response.status);
    await response.arrayBuffer();
  }
  assert.deepEqual([...statuses], [503]);
  const again = await runPostgres(first.dataDir, {}, first.port);
  t.after(() => again.stop('SIGQUIT'));
  await becomes('200 ok, up 1');
  await until(() => messages().at(-1) === OUTAGE[1], 'the end of the outage is logged');
  // Two outages if five seconds were between them.
  const outages = messages().length / OUTAGE.length;
  assert.ok(outages <= 2);
  assert.deepEqual(messages(), Array.from({ length: outages }, () => OUTAGE).flat());
});

/** A statement waits five seconds for the database. The response must not, also on a busy machine. */
const IN_TIME_MS = 3_000;

async function inTime(url: string): Promise<{ status: number; body: string }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(IN_TIME_MS) });
  return { status: response.status, body: await response.text() };
}
