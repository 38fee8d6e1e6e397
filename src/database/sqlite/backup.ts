import { chmodSync, constants, copyFileSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { AppError, badRequest } from '../../core/errors.ts';
import { type DataFiles, FILE_MODE, giveToOwner } from '../data-folder.ts';
import { type Part, partOfMigration } from '../migrations.ts';
import { skipUsedNumbers } from './changes.ts';
import { type Database, findDamage, openReader, withWriter } from './database.ts';
import { prepareDatabaseFile } from './database-file.ts';
import { requireSpace } from './disk-space.ts';
import { damaged } from './faults.ts';

// A backup is one database: the intelligence file copied page by page, plus the small tables of control. Table names must
// not clash. Only `migrations` is in both files, with numbers that are unique over both. `backup_tables` lists the tables
// of control.

/** Writes a consistent copy of each database to an empty file, while other processes may read and write. */
export async function backupSqlite(from: DataFiles, to: string, onProgress: (share: number) => void): Promise<void> {
  prepareDatabaseFile('intelligence', from.intelligence);
  prepareDatabaseFile('control', from.control);
  requireSpace(to, statSync(from.intelligence).size + statSync(from.control).size);
  const source = openReader(from.intelligence);
  await source.copyTo(to, onProgress).finally(() => source.close());
  onProgress(1);
  // The copy contains damaged pages as they are. A backup of them would replace a good one.
  requireIntact(to, from.intelligence);
  requireIntact(from.control, from.control);
  withWriter(to, (db) => {
    attach(db, from.control);
    db.transaction(() => addControl(db));
    // The copy is in WAL mode like its source. A backup must be a single file without a log.
    db.exec('detach source; pragma journal_mode = delete');
  });
}

function requireIntact(path: string, origin: string): void {
  const damage = findDamage(path);
  if (damage !== null) throw damaged(origin, damage);
}

/** What SQLite says about a file that begins like no database, such as one that gzip has packed. */
const NO_DATABASE = 'file is not a database';

/**
 * Serials after those of the backup were given to devices, with other content: the next build of each list takes a new one.
 * No content has an empty hash.
 */
const FORGET_LIST_CONTENTS = "update list_serials set content_hash = x''";

/** Fills two empty files from a backup. */
export function restoreSqlite(from: string, to: DataFiles): void {
  const damage = findDamage(from);
  if (damage === NO_DATABASE) throw badRequest('it is not a backup, or it is packed: unpack it first');
  if (damage !== null) throw new AppError('damaged', `it is damaged (${damage}): use another backup`);
  requireSpace(to.intelligence, statSync(from).size);
  withWriter(to.control, (db) => {
    attach(db, from);
    requireBackup(db);
    db.transaction(() => extractControl(db));
  });
  prepareDatabaseFile('control', to.control); // a backup of an older program has no lists for devices
  withWriter(to.control, (db) => db.transaction(() => db.exec(FORGET_LIST_CONTENTS)));
  copyFileSync(from, to.intelligence, constants.COPYFILE_FICLONE);
  chmodSync(to.intelligence, FILE_MODE); // the copy has mode and owner of the backup
  giveToOwner(to.intelligence);
  withWriter(to.intelligence, (db) => db.transaction(() => dropControl(db)));
  prepareDatabaseFile('intelligence', to.intelligence); // a backup of an older program has no change feed
  withWriter(to.intelligence, (db) => db.transaction(() => skipUsedNumbers(db)));
}

const CONTROL_TABLES = `
  select name from source.sqlite_schema where type = 'table' and name <> 'migrations' order by name`;

function addControl(db: Database): void {
  db.exec('create table backup_tables (name text primary key) strict');
  const record = db.prepare('insert into backup_tables values (?)');
  for (const [name] of db.prepare<[string]>(CONTROL_TABLES).all()) {
    copyTable(db, name);
    record.run(name);
  }
  db.exec('insert into migrations select * from source.migrations');
}

function extractControl(db: Database): void {
  for (const [name] of db.prepare<[string]>('select name from source.backup_tables').all()) copyTable(db, name);
  copyTable(db, 'migrations');
  keepMigrationsOf(db, 'control');
}

function dropControl(db: Database): void {
  for (const [name] of db.prepare<[string]>('select name from backup_tables').all()) db.exec(`drop table ${name}`);
  db.exec('drop table backup_tables');
  keepMigrationsOf(db, 'intelligence');
}

function keepMigrationsOf(db: Database, part: Part): void {
  const remove = db.prepare('delete from migrations where name = ?');
  for (const [name] of db.prepare<[string]>('select name from migrations').all()) {
    if (partOfMigration(name) !== part) remove.run(name);
  }
}

// The table before its indexes. Indexes that SQLite creates itself have no SQL text.
const DEFINITIONS = `
  select sql from source.sqlite_schema where tbl_name = ? and sql is not null order by type = 'table' desc`;

/** Copies a table with its indexes from the attached database. All names come from our migrations. */
function copyTable(db: Database, name: string): void {
  for (const [sql] of db.prepare<[string]>(DEFINITIONS).all(name)) db.exec(sql);
  db.exec(`insert into main.${name} select * from source.${name}`);
}

function requireBackup(db: Database): void {
  const found = db.prepare<[1]>("select 1 from source.sqlite_schema where name = 'backup_tables'").get();
  if (found === undefined) throw badRequest('it was not created by urlwarden backup');
}

/** Attaches a database read-only. */
function attach(db: Database, path: string): void {
  db.prepare('attach ? as source').run(`${pathToFileURL(path).href}?mode=ro`);
}
