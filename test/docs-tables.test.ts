import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { startServer } from './cli/server.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Columns by table, in their order: "integer url_id PK", "text url", "integer asn ?" for one that can be null. */
type Tables = Record<string, string[]>;

const PAGE = readFileSync(new URL('../docs/tables.md', import.meta.url), 'utf8');

const ENTITY = /^ {2}(\w+) \{\n(.*?)^ {2}\}$/gms;
const COLUMN = /^ {4}(\w+) (\w+)( PK| UK)?(?: "(\?)?[^"]*")?$/;
const RELATION = /^ {2}(\w+) [|o}{]{2}--[|o}{]{2} (\w+) : "[^"]+"$/gm;
const ROW = /^\| `(\w+)` \| .+ \| .+ \|$/gm;

test('docs/tables.md has every table and column of the migrated databases, and no other', async (t) => {
  const folder = temporaryFolder(t);
  await startServer(t, ['--data', folder]);
  for (const file of ['intelligence.db', 'control.db']) {
    const text = PAGE.split(/^## /m).find((section) => section.startsWith(`${file}\n`)) ?? '';
    await t.test(file, () => {
      const tables = tablesOf(join(folder, file));
      assert.deepEqual(drawnTables(text), tables);
      const described = [...text.matchAll(ROW)].map(([, table]) => table);
      assert.deepEqual(described.toSorted(), Object.keys(tables).toSorted());
      const related = [...text.matchAll(RELATION)].flatMap(([, from = '', to = '']) => [from, to]);
      assert.ok(related.length > 0);
      for (const table of related) assert.ok(table in tables, `there is no table ${table}`);
    });
  }
});

function drawnTables(text: string): Tables {
  const entities = [...text.matchAll(ENTITY)].map(([, table = '', body = '']) => [table, body.trimEnd().split('\n')]);
  return Object.fromEntries(entities.map(([table, lines]) => [table, (lines as string[]).map(drawnColumn)]));
}

function drawnColumn(line: string): string {
  const [, type, name, key = '', mark] = COLUMN.exec(line) ?? assert.fail(`not a column: ${line}`);
  return `${type} ${name}${key}${mark === undefined ? '' : ' ?'}`;
}

const TABLES = `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`;

/** A column is unique (UK) when it has a unique index of its own. */
const COLUMNS = `
  select lower(type) || ' ' || name || case when pk > 0 then ' PK' when exists (
    select 1 from pragma_index_list(:table) as list, pragma_index_info(list.name) as part
    where list."unique" and list.origin <> 'pk' and part.name = columns.name) then ' UK' else '' end
    || iif(pk > 0 or "notnull", '', ' ?') as text
  from pragma_table_info(:table) as columns order by cid`;

function tablesOf(file: string): Tables {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const columns = db.prepare(COLUMNS);
    const columnsOf = (table: string) => columns.all({ table }).map(({ text }) => String(text));
    const names = db
      .prepare(TABLES)
      .all()
      .map(({ name }) => String(name));
    return Object.fromEntries(names.map((name) => [name, columnsOf(name)]));
  } finally {
    db.close();
  }
}
