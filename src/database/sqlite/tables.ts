import { type DataFiles, requireData } from '../data-folder.ts';
import type { Row, Table } from '../table.ts';
import { type Database, openExclusive, openSnapshot, type Params } from './database.ts';
import { prepareDatabaseFile } from './database-file.ts';

/** The tables of a data folder, in the state at opening. */
export type Tables = {
  tables: readonly Table[];
  /** No other process has the data open or can open it. */
  isExclusive: boolean;
  count(table: Table): number;
  /** Up to `limit` rows in key order, starting after `after`. */
  page(table: Table, after: Row | null, limit: number): Row[];
  close(): void;
};

const TABLE_NAMES = `
  select name from sqlite_schema
  where type = 'table' and name not like 'sqlite_%' and name <> 'migrations' order by rowid`;

/** Also works while a server runs; its later writes are not visible. */
export function openTables(dataDir: string, files: DataFiles): Tables {
  requireData(dataDir);
  const parts = (['intelligence', 'control'] as const).map((part) => {
    prepareDatabaseFile(part, files[part]);
    const exclusive = openExclusive(files[part]);
    const db = exclusive ?? openSnapshot(files[part]);
    return { db, isExclusive: exclusive !== null, tables: tablesOf(db) };
  });
  const databases = new Map(parts.flatMap(({ db, tables }) => tables.map((table) => [table.name, db])));
  const databaseOf = (table: Table) => databases.get(table.name) as Database;
  return {
    tables: parts.flatMap(({ tables }) => tables),
    isExclusive: parts.every(({ isExclusive }) => isExclusive),
    count: (table) => databaseOf(table).prepare<[number]>(`select count(*) from ${table.name}`).get()?.[0] ?? 0,
    page(table, after, limit) {
      const { name, columns, key } = table;
      const where = after === null ? '' : `where (${key.join()}) > (${key.map(() => '?').join()})`;
      const sql = `select ${columns.join()} from ${name} ${where} order by ${key.join()} limit ${limit}`;
      return databaseOf(table)
        .prepare<Row>(sql)
        .all(...((after ?? []) as Params));
    },
    close() {
      for (const { db } of parts) db.close();
    },
  };
}

function tablesOf(db: Database): Table[] {
  const names = db.prepare<[string]>(TABLE_NAMES).all();
  return names.map(([name]) => {
    const columns = db
      .prepare<[string, number]>(`select name, pk from pragma_table_info('${name}') order by cid`)
      .all();
    const key = columns.filter(([, keyIndex]) => keyIndex > 0).sort(([, a], [, b]) => a - b);
    return {
      name,
      columns: columns.map(([column]) => column),
      key: (key.length > 0 ? key : columns).map(([column]) => column),
    };
  });
}
