import { type DataFiles, requireData } from '../data-folder.ts';
import type { Row, Table } from '../table.ts';
import { type Database, openAlone, openSnapshot, type Params } from './database.ts';
import { prepareDatabaseFile } from './database-file.ts';

/** The tables of a data folder, as they are when it is opened. */
export type Tables = {
  tables: readonly Table[];
  /** Nobody else has the data open, and nobody can open it meanwhile. */
  isAlone: boolean;
  count(table: Table): number;
  /** Up to `limit` rows in the order of the key, from the first one after `after`. */
  page(table: Table, after: Row | null, limit: number): Row[];
  close(): void;
};

const TABLE_NAMES = `
  select name from sqlite_schema
  where type = 'table' and name not like 'sqlite_%' and name <> 'migrations' order by rowid`;

/** Beside a running server: what it writes meanwhile is not seen. */
export function openTables(dataDir: string, files: DataFiles): Tables {
  requireData(dataDir);
  const parts = (['intelligence', 'control'] as const).map((part) => {
    prepareDatabaseFile(part, files[part]);
    const alone = openAlone(files[part]);
    const db = alone ?? openSnapshot(files[part]);
    return { db, isAlone: alone !== null, tables: tablesOf(db) };
  });
  const databases = new Map(parts.flatMap(({ db, tables }) => tables.map((table) => [table.name, db])));
  const databaseOf = (table: Table) => databases.get(table.name) as Database;
  return {
    tables: parts.flatMap(({ tables }) => tables),
    isAlone: parts.every(({ isAlone }) => isAlone),
    count: (table) => databaseOf(table).prepare<[number]>(`select count(*) from ${table.name}`).get()?.[0] ?? 0,
    page(table, after, limit) {
      const { name, columns, key } = table;
      const beyond = after === null ? '' : `where (${key.join()}) > (${key.map(() => '?').join()})`;
      const sql = `select ${columns.join()} from ${name} ${beyond} order by ${key.join()} limit ${limit}`;
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
    const key = columns.filter(([, place]) => place > 0).sort(([, a], [, b]) => a - b);
    return {
      name,
      columns: columns.map(([column]) => column),
      key: (key.length > 0 ? key : columns).map(([of]) => of),
    };
  });
}
