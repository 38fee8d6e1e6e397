import { appendFileSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { copyPostgres, type PostgresServer, runPostgres, startPostgres } from './postgres.ts';

/** A primary with a standby. Unless `isSynchronous` is false, it acknowledges no write without the standby. */
export async function startPair(t: TestContext, { isSynchronous = true } = {}) {
  const first = await startPostgres();
  await first.stop();
  const copy = copyPostgres(first.dataDir);
  const primary = await runPostgres(first.dataDir, isSynchronous ? { synchronous_standby_names: '*' } : {});
  t.after(() => end(primary));
  const signal = join(copy, 'standby.signal');
  writeFileSync(signal, '');
  const { uid, gid } = statSync(copy);
  chownSync(signal, uid, gid);
  // In the file, not among the arguments, so that `cutOff` can change it.
  const conninfo = `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'\n`;
  appendFileSync(join(copy, 'postgresql.auto.conf'), conninfo);
  const standby = await runPostgres(copy);
  t.after(() => end(standby));
  return { primary, standby };
}

async function end(server: PostgresServer): Promise<void> {
  await server.stop('SIGQUIT');
  server.remove();
}

export async function promote({ url }: PostgresServer): Promise<void> {
  await onServer(url, (sql) => sql`select pg_promote()`);
}

/** Waits until the standby has all data of the primary, and cuts it off: from now on it lags. */
export async function cutOff({ primary, standby }: Record<'primary' | 'standby', PostgresServer>): Promise<void> {
  const [row] = await onServer(primary.url, (sql) => sql`select pg_current_wal_lsn() as lsn`);
  await onServer(standby.url, async (sql) => {
    const isBehind = async () =>
      (await sql`select from (select) _ where pg_last_wal_replay_lsn() < ${row?.lsn}`).length > 0;
    while (await isBehind()) await setTimeout(10);
    await sql.unsafe(`alter system set primary_conninfo = ''`);
    await sql`select pg_reload_conf()`;
    const isReceiving = async () => (await sql`select from pg_stat_wal_receiver`).length > 0;
    while (await isReceiving()) await setTimeout(10);
  });
}

async function onServer<Result>(url: string, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(url, { max: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
