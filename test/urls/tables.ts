import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import postgres from 'postgres';
import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { type Intelligence, openIntelligence } from '../../src/app/stores.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { withWriter } from '../../src/database/sqlite/database.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** An empty store, and its rows. */
export type Tables = {
  store: Intelligence;
  /** Changes rows behind the back of the store. */
  run(sql: string): Promise<void>;
  /** Rows as text: values are separated by blanks, bytes are hexadecimal. */
  rows(sql: string): Promise<string[]>;
};

/** `openNode`: a further store on the same database, which the test closes. */
type PostgresTables = Tables & { openNode(): Promise<Intelligence> };

export type OpenTables = (t: TestContext) => Promise<Tables>;

const textOf = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : `${value}`);
const lineOf = (row: Iterable<unknown>) => [...row].map(textOf).join(' ');

export const openSqliteTables: OpenTables = async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  const path = dataFiles(dataDir).intelligence;
  return {
    store,
    async run(sql) {
      withWriter(path, (db) => db.exec(sql));
      await setImmediate(); // the read transaction of this iteration of the event loop is older
    },
    async rows(sql) {
      const db = new DatabaseSync(path, { readOnly: true });
      try {
        return db
          .prepare(sql)
          .all()
          .map((row) => lineOf(Object.values(row)));
      } finally {
        db.close();
      }
    },
  };
};

export async function openPostgresTables(t: TestContext): Promise<PostgresTables> {
  const url = await temporaryDatabase(t);
  const openNode = () => openPostgresIntelligence({ url, readUrls: [], connections: 4 });
  const store = await openNode();
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  t.after(async () => {
    await sql.end();
    await store.close();
  });
  return {
    store,
    async run(statements) {
      await sql.unsafe(statements).simple();
    },
    rows: async (text) => (await sql.unsafe(text).values()).map((row) => lineOf(row)),
    openNode,
  };
}
