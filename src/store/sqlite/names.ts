import type { Database } from './database.ts';

/** Texts of a dictionary by id. They never change, so that the answers need no join for them. */
export type Names = (id: number) => string;

/** Reporters and reasons are some hundreds; what goes beyond this is read again. */
const REMEMBERED = 10_000;

export function createNames(db: Database, table: string, column: string): Names {
  const find = db.prepare<[string]>(`select ${column} from ${table} where id = ?`);
  const names = new Map<number, string>();
  return (id) => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const [name] = find.get(id) as [string];
    if (names.size >= REMEMBERED) names.clear();
    names.set(id, name);
    return name;
  };
}
