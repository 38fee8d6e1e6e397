import { readdirSync, readFileSync } from 'node:fs';
import { AppError } from '../core/errors.ts';

type Engine = 'sqlite' | 'postgres';

/** The databases of the embedded store, one file each. PostgreSQL holds both in one database. */
export type Part = 'intelligence' | 'control';

export type Migration = { number: number; name: string; sql: string; isBreaking: boolean };

/** The same relative path from src/database and from dist/database. */
const FOLDER = new URL('../../migrations/', import.meta.url);

/** If a migration begins with this line, older programs refuse the database. */
const BREAKING_MARK = '-- breaking';

/** The migrations of one part, or all, in order. */
export function readMigrations(engine: Engine, part?: Part): Migration[] {
  const folder = new URL(`${engine}/`, FOLDER);
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const wanted = names.filter((name) => part === undefined || partOfMigration(name) === part);
  return wanted.sort().map((name) => {
    const sql = readFileSync(new URL(name, folder), 'utf8');
    return { number: Number.parseInt(name, 10), name, sql, isBreaking: sql.startsWith(BREAKING_MARK) };
  });
}

/** The word after the number is the part: 0002_control.sql, 0007_control_feeds.sql. */
export function partOfMigration(name: string): string {
  return /^\d+_([a-z]+)/.exec(name)?.[1] ?? '';
}

/** The migrations that are not applied yet. Throws if a newer program has applied a breaking migration. */
export function pendingMigrations(
  known: readonly Migration[],
  applied: readonly Pick<Migration, 'number' | 'name' | 'isBreaking'>[],
): Migration[] {
  const newest = known.at(-1)?.number ?? 0;
  const unknown = applied.find(({ number, isBreaking }) => number > newest && isBreaking);
  if (unknown) {
    throw new AppError(
      'unavailable',
      `The database was changed by a newer version of urlwarden (${unknown.name}). Start that version, or restore a backup.`,
    );
  }
  const appliedNumbers = new Set(applied.map(({ number }) => number));
  return known.filter(({ number }) => !appliedNumbers.has(number));
}
