import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import postgres from 'postgres';
import { postgresServerUrl } from './urls.ts';

/** An order of texts that is not the order of their bytes: most servers have one, and none of it may show. */
const LOCALE = `template template0 locale_provider icu icu_locale 'en'`;

/** The URL of an empty database that is gone after the test. Ask for it before what uses it is opened. */
export async function temporaryDatabase(t: TestContext): Promise<string> {
  const name = `urlwarden_test_${randomUUID().replaceAll('-', '')}`;
  await onServer((sql) => sql.unsafe(`create database ${name} ${LOCALE}`));
  t.after(() => onServer((sql) => sql.unsafe(`drop database ${name} with (force)`)));
  const url = new URL(postgresServerUrl());
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer(work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(postgresServerUrl(), { max: 1, onnotice: () => {} });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}
