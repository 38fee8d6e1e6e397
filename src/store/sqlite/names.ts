import { type Json, jsonOf } from '../answer-text.ts';
import type { Database } from './database.ts';

/** Texts of a dictionary by id, as JSON. They never change, so that the answers need no join for them. */
export type Names = (id: number) => Json;

/** Reporters and reasons are some hundreds; what goes beyond this is read again. */
const REMEMBERED = 10_000;

export function createNames(db: Database, table: string, column: string): Names {
  const find = db.prepare<[string]>(`select ${column} from ${table} where id = ?`);
  const names = new Map<number, Json>();
  return (id) => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const name = jsonOf((find.get(id) as [string])[0]);
    if (names.size >= REMEMBERED) names.clear();
    names.set(id, name);
    return name;
  };
}
