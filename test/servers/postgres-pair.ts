import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import postgres from 'postgres';
import { copyPostgres, type PostgresServer, runPostgres, startPostgres } from './postgres.ts';

/** A primary with a synchronous standby: it acknowledges no write without the standby. */
export async function startPair(t: TestContext) {
  const first = await startPostgres();
  await first.stop();
  const copy = copyPostgres(first.dataDir);
  const primary = await runPostgres(first.dataDir, { synchronous_standby_names: '*' });
  t.after(() => end(primary));
  const signal = join(copy, 'standby.signal');
  writeFileSync(signal, '');
  const { uid, gid } = statSync(copy);
  chownSync(signal, uid, gid);
  const standby = await runPostgres(copy, { primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres` });
  t.after(() => end(standby));
  return { primary, standby };
}

async function end(server: PostgresServer): Promise<void> {
  await server.stop('SIGQUIT');
  server.remove();
}

export async function promote({ url }: PostgresServer): Promise<void> {
  const sql = postgres(url, { max: 1 });
  await sql`select pg_promote()`;
  await sql.end();
}
