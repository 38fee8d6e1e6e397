import { type Migration, type Part, pendingMigrations, readMigrations } from '../migrations.ts';
import type { Database } from './database.ts';

/** Brings the database to this program's schema. Several processes may race: the write lock lets one of them through. */
export function migrate(db: Database, part: Part): void {
  db.exec(`create table if not exists migrations (
    number integer primary key, name text not null, breaking integer not null, applied_ts integer not null) strict`);
  const known = readMigrations('sqlite', part);
  if (pending(db, known).length === 0) return;
  db.transaction(() => {
    const record = db.prepare('insert into migrations values (?, ?, ?, unixepoch())');
    for (const migration of pending(db, known)) {
      db.exec(migration.sql);
      record.run(migration.number, migration.name, Number(migration.isBreaking));
    }
  });
}

function pending(db: Database, known: readonly Migration[]): Migration[] {
  const applied = db.prepare<[number, string, number]>('select number, name, breaking from migrations').all();
  return pendingMigrations(
    known,
    applied.map(([number, name, breaking]) => ({ number, name, isBreaking: breaking === 1 })),
  );
}
