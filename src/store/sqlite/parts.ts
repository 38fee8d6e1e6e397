import { createApply } from './apply.ts';
import { createControlWrites } from './control-write.ts';
import type { Database } from './database.ts';

/**
 * The databases of a data folder, each a file of its own, and what is written to them: functions that run on the
 * writer's thread, each a transaction.
 */
export const PARTS = {
  intelligence: (db: Database) => ({ apply: createApply(db) }),
  control: createControlWrites,
};

export type Part = keyof typeof PARTS;

/** What can be asked of a part's writer. */
export type Writes<P extends Part> = ReturnType<(typeof PARTS)[P]>;
