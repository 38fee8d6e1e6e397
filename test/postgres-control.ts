import type { TestContext } from 'node:test';
import { openPostgresControl } from '../src/app/postgres-stores.ts';
import type { Control } from '../src/app/stores.ts';
import { temporaryDatabase } from './servers/temporary-database.ts';

/** Control data on PostgreSQL, closed after the test. Empty, unless `url` is the database of another node. */
export async function postgresControl(t: TestContext, url?: string): Promise<Control> {
  const control = await openPostgresControl({ url: url ?? (await temporaryDatabase(t)) });
  t.after(() => control.close());
  return control;
}
