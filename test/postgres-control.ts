import type { TestContext } from 'node:test';
import type { Control } from '../src/store/control.ts';
import { openPostgresControl } from '../src/store/postgres/open-control.ts';
import { temporaryDatabase } from './servers/temporary-database.ts';

const CONNECTIONS = 4;

/** Control data on PostgreSQL, empty unless it is that of another node; closed after the test. */
export async function postgresControl(t: TestContext, url?: string): Promise<Control> {
  const control = await openPostgresControl({ url: url ?? (await temporaryDatabase(t)), connections: CONNECTIONS });
  t.after(() => control.close());
  return control;
}
