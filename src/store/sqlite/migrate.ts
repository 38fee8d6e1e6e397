import { readdirSync, readFileSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';
import type { Database } from './database.ts';
import type { Part } from './parts.ts';

type Migration = { number: number; name: string; sql: string; breaking: boolean };

/** The same distance from src/store/sqlite and from dist/store/sqlite. */
const MIGRATIONS = new URL('../../../migrations/sqlite/', import.meta.url);

/** A migration whose first line is this makes programs that do not know it refuse the database. */
const BREAKING_MARK = '-- breaking';

/** Brings the database to this program's schema. Several processes may race: the write lock lets one of them through. */
export function migrate(db: Database, part: Part): void {
  db.exec(`create table if not exists migrations (
    number integer primary key, name text not null, breaking integer not null, applied_ts integer not null) strict`);
  const known = readMigrations(part);
  if (pending(db, known).length === 0) return;
  db.transaction(() => {
    const record = db.prepare('insert into migrations values (?, ?, ?, unixepoch())');
    for (const migration of pending(db, known)) {
      db.exec(migration.sql);
      record.run(migration.number, migration.name, Number(migration.breaking));
    }
  });
}

function pending(db: Database, known: Migration[]): Migration[] {
  const applied = db.prepare<[number, string, number]>('select number, name, breaking from migrations').all();
  const newest = known.at(-1)?.number ?? 0;
  const unknown = applied.find(([number, , breaking]) => number > newest && breaking === 1);
  if (unknown) {
    throw new AppError(
      'unavailable',
      `The database was changed by a newer version of urlwarden (${unknown[1]}). Start that version, or restore a backup.`,
    );
  }
  const done = new Set(applied.map(([number]) => number));
  return known.filter(({ number }) => !done.has(number));
}

/** The word after the number tells the database: 0002_control.sql, 0007_control_feeds.sql. */
export function partOfMigration(name: string): string {
  return /^\d+_([a-z]+)/.exec(name)?.[1] ?? '';
}

function readMigrations(part: Part): Migration[] {
  const names = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql') && partOfMigration(name) === part);
  return names.sort().map((name) => {
    const sql = readFileSync(new URL(name, MIGRATIONS), 'utf8');
    return { number: Number.parseInt(name, 10), name, sql, breaking: sql.startsWith(BREAKING_MARK) };
  });
}
