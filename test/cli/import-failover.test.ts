import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import postgres from 'postgres';
import { urlhausDump } from '../../tools/shared/urlhaus-dump.ts';
import { hangPostgres, type PostgresServer, startPostgres } from '../servers/postgres.ts';
import { promote, startPair } from '../servers/postgres-pair.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startUrlwarden, urlwarden } from './urlwarden.ts';

test('an import whose primary is killed continues on the promoted standby and leaves the same data', async (t) => {
  const { primary, standby } = await startPair(t);
  const pair = ['--database-url', urlOf(primary, standby)];
  const folder = temporaryFolder(t);
  const dump = [...urlhausDump({ rows: 10_000, seed: 7 })];
  const rejected = '"1","never","http://c.example/c","online","None","malware_download","None","","bob"\r\n';
  const rows = [...dump.slice(0, 6), rejected, ...dump.slice(6)];
  writeFileSync(join(folder, 'dump.csv'), rows.join(''));

  const run = start(['import', 'urlhaus-csv', '-', '--complete', ...pair]);
  run.stdin.write(rows.slice(0, 9).join(''));
  await until(async () => (await count(primary, 'urls').catch(() => 0)) > 0, 'the first batch is stored');
  await primary.stop('SIGQUIT');
  run.stdin.end(rows.slice(9).join(''));
  await until(() => run.stderr().includes('Waiting for the database'), 'the import waits');
  await promote(standby);
  assert.deepEqual([await run.code(), run.stdout().includes('rows read            10,001')], [0, true], run.stderr());
  assert.match(run.stdout(), /^repeated writes +[1-9]/m);

  const data = ['--data', join(folder, 'data')];
  const file = join(folder, 'dump.csv');
  assert.equal((await urlwarden(['import', 'urlhaus-csv', file, '--complete', ...data])).code, 0);
  assert.equal(await exported(pair), await exported(data));
  assert.match((await urlwarden(['import', 'list', ...pair])).stdout, / done +10,001 .* 1\n.* from standard input\n$/);
  assert.match((await urlwarden(['import', 'rejects', ...pair])).stdout, /: 1 rejected\n[\s\S]*never/);
});

test('a complete listing whose primary is killed while it takes URLs offline is finished on the standby', async (t) => {
  const { primary, standby } = await startPair(t);
  const pair = ['--database-url', urlOf(primary, standby)];
  const data = ['--data', join(temporaryFolder(t), 'data')];
  const lists = [listOf(3_000), listOf(2_000)];
  const importArgs = (i: number) => ['import', 'url-list', '-', '--complete', '--as-of', `${1_767_225_600 + i}`];
  for (const place of [pair, data]) assert.equal((await urlwarden([...importArgs(0), ...place], lists[0])).code, 0);
  assert.equal((await urlwarden([...importArgs(1), ...data], lists[1])).code, 0);

  const session = postgres(primary.url, { max: 1, onnotice: () => {} });
  const lock = session.begin(async (sql) => {
    await sql`select 1 from urls where url = ${listedUrl(2_999)} for update`;
    await new Promise(() => {});
  });
  lock.catch(() => {});
  const run = start([...importArgs(1), ...pair]);
  run.stdin.end(lists[1]);
  await until(async () => (await count(primary, `pg_stat_activity where wait_event_type = 'Lock'`)) > 0, 'it waits');
  assert.equal(await count(primary, 'listings'), 2, 'all URLs are marked; the listing is being finished');
  await primary.stop('SIGQUIT');
  const killedMs = performance.now();
  await session.end({ timeout: 0 });
  await promote(standby);
  assert.equal(await run.code(), 0, run.stderr());
  assert.ok(performance.now() - killedMs < 18_000, 'it does not wait 20 s for statements of the lost connection');
  assert.equal(await exported(pair), await exported(data));
});

test('Ctrl-C ends the wait for the database at once, with the advice to repeat the import', async (t) => {
  const { server, run } = await startImport(t);
  await server.stop('SIGQUIT');
  run.stdin.end();
  await until(() => run.stderr().includes('Waiting for the database'), 'the import waits');
  const stoppedMs = performance.now();
  run.kill('SIGINT');
  assert.equal(await run.code(), 1);
  // At once, or when the statement that was sent last has waited for five seconds. Without Ctrl-C it waits for a minute.
  assert.ok(performance.now() - stoppedMs < 10_000);
  assert.match(run.stderr(), /\n.*PostgreSQL.*\. The import can be repeated: run the same command again\.\n$/);
});

test('Ctrl-C ends an import while PostgreSQL hangs, without an answer of the server', async (t) => {
  const { server, run } = await startImport(t);
  const resume = await hangPostgres(server);
  t.after(resume);
  const stoppedMs = performance.now();
  run.kill('SIGINT');
  assert.equal(await run.code(), 1);
  // It takes 10 s: the end of the import is not recorded in time, and then its connections do not close in time.
  assert.ok(performance.now() - stoppedMs < 15_000);
  assert.match(
    run.stderr(),
    /PostgreSQL does not respond\. The import can be repeated: run the same command again\.\n$/,
  );
});

/** An import that has stored its first batch and waits for its source. */
async function startImport(t: TestContext) {
  const server = await startPostgres();
  t.after(() => server.remove());
  const run = start(['import', 'url-list', '-', '--database-url', server.url]);
  run.stdin.write(listOf(6_100));
  await until(async () => (await count(server, 'urls').catch(() => 0)) > 0, 'the first batch is stored');
  return { server, run };
}

function urlOf(...servers: PostgresServer[]): string {
  return `postgres://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`;
}

const listedUrl = (i: number) => `http://host${i}.example/${i}`;

function listOf(urls: number): string {
  return Array.from({ length: urls }, (_, i) => `${listedUrl(i)}\n`).join('');
}

async function exported(place: string[]): Promise<string> {
  const { code, stdout, stderr } = await urlwarden(['export', ...place]);
  assert.equal(code, 0, stderr);
  return stdout;
}

async function count({ url }: PostgresServer, from: string): Promise<number> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const [row] = await sql.unsafe(`select count(*)::integer as rows from ${from}`);
    return row?.rows;
  } finally {
    await sql.end();
  }
}

function start(args: string[]) {
  const child = startUrlwarden(args);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
    });
  }
  child.stdin.on('error', () => {}); // the program may exit before it reads its input
  const closed = once(child, 'close');
  return {
    stdin: child.stdin,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    code: async () => (await closed)[0] as number | null,
  };
}
