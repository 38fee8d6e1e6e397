import { AppError } from '../../core/errors.ts';
import { openSnapshot, withWriter } from './database.ts';

// SQLite's own check (https://www.sqlite.org/pragma.html#pragma_integrity_check), one table at a time: each has a read
// transaction of its own, and the write-ahead log grows only while a large table is checked. Unused pages are not checked.

/** A problem as SQLite describes it; `index` is the index that disagrees with its table and can be built again. */
type StructureProblem = { text: string; index: string | null };

const TABLES = `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name`;

/** The tables of the file, the schema first. */
export function tablesOf(path: string): string[] {
  return onSnapshot(path, (db) => [
    'sqlite_schema',
    ...db
      .prepare<[string]>(TABLES)
      .all()
      .map(([name]) => name),
  ]);
}

const SOUND = 'ok';
/** The first line of problems of the pages. */
const HEADING = '*** in database main ***';
const INDEX = / index (\w+)$/;

/** What is wrong with a table and its indexes; nothing if it is sound. SQLite reports at most 100 problems. */
export function checkTable(path: string, table: string): StructureProblem[] {
  return readProblems(path, table)
    .flatMap((text) => text.split('\n'))
    .filter((text) => text !== SOUND && text !== HEADING)
    .map((text) => ({ text, index: INDEX.exec(text)?.[1] ?? null }));
}

function readProblems(path: string, table: string): string[] {
  return onSnapshot(path, (db) => {
    const check = db.prepare<[string]>(`pragma integrity_check(${table})`);
    try {
      return check.all().map(([text]) => text);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'damaged') throw error;
      // The check itself stops at a damaged page. The first row has what is known about the pages by then.
      return [...firstRow(check), (error.cause as Error).message];
    }
  });
}

function firstRow(check: { get(): [string] | undefined }): string[] {
  try {
    return check.get() ?? [];
  } catch {
    return [];
  }
}

function onSnapshot<T>(path: string, work: (db: ReturnType<typeof openSnapshot>) => T): T {
  const db = openSnapshot(path);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/**
 * Builds indexes again from their tables, each in one transaction. Returns false if that is not possible: the table has
 * equal rows that the index must refuse, or a page of the index is damaged.
 */
export function rebuildIndex(path: string, index: string): boolean {
  try {
    withWriter(path, (db) => db.batch(() => db.exec(`reindex ${index}`)));
    return true;
  } catch (error) {
    const isImpossible = error instanceof AppError ? error.code === 'damaged' : 'errcode' in (error as object);
    if (isImpossible) return false;
    throw error;
  }
}
