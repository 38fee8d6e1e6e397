import type { Control } from '../control.ts';
import { createControlReads } from './control-read.ts';
import { createControlWrites } from './control-write.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';

export type PostgresControlOptions = {
  url: string;
  /** Connections that may be open at once. */
  connections: number;
};

/** The control store on PostgreSQL, for any number of nodes. */
export async function openPostgresControl({ url, connections }: PostgresControlOptions): Promise<Control> {
  const db = openDatabase(url, { connections, role: 'read-write' });
  try {
    await migrate(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  return { ...createControlReads(db), ...createControlWrites(db), close: db.close };
}
