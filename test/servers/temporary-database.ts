import { randomUUID } from 'node:crypto';
import { after, type TestContext } from 'node:test';
import postgres from 'postgres';
import { postgresServerUrl } from './urls.ts';

/** A collation that differs from byte order, as on most servers. Results must not depend on it. */
const LOCALE = `template template0 locale_provider icu icu_locale 'en'`;

/** URLs of databases of finished tests: emptying a database takes a tenth of the time of creating one. */
const free: string[] = [];
const created: string[] = [];
after(async () => {
  for (const url of created) await onServer(postgresServerUrl(), `drop database ${nameOf(url)} with (force)`);
});

// Open connections belong to finished tests; the last statement of one may still write a row, so their ends are awaited. As a replica, the session fires no triggers: that of the audit log refuses.
// A table that never had a row has no pages; opening all tables would take a third of the time.
const EMPTY = `
  set session_replication_role = replica;
  do $$ declare name text; begin
    while (
      select count(pg_terminate_backend(pid)) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()) > 0
    loop
      perform pg_sleep(0.002);
      perform pg_stat_clear_snapshot();
    end loop;
    for name in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and relname <> 'migrations' and pg_relation_size(oid) > 0 loop
      execute format('delete from %I', name);
      if name = 'control_version' then insert into control_version values (0); end if;
      if name = 'audit_retention' then insert into audit_retention values (0, 0); end if;
      if name = 'change_numbers' then insert into change_numbers values (0, ''); end if;
      if name = 'list_version' then insert into list_version values (0); end if;
      if name = 'lists_state' then insert into lists_state values (0, 0); end if;
    end loop;
    for name in select sequencename from pg_sequences where schemaname = 'public' loop
      perform setval(name::regclass, 1, false);
    end loop;
  end $$`;

/** The URL of a database without data. It may already have the tables of this program. */
export async function temporaryDatabase(t: TestContext): Promise<string> {
  const used = free.pop();
  if (used !== undefined) await onServer(used, EMPTY);
  const url = used ?? (await makeDatabase());
  t.after(() => {
    free.push(url);
  });
  return url;
}

/** The URL of a new database that no other test uses, so a test may damage it. */
export async function makeDatabase(): Promise<string> {
  const url = new URL(postgresServerUrl());
  url.pathname = `/urlwarden_test_${randomUUID().replaceAll('-', '')}`;
  await onServer(postgresServerUrl(), `create database ${nameOf(url.href)} ${LOCALE}`);
  created.push(url.href);
  return url.href;
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

async function onServer(url: string, statements: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(statements).simple();
  } finally {
    await sql.end();
  }
}
