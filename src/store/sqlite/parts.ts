import type { Part } from '../migrations.ts';
import { createControlWrites } from './control-write.ts';
import { createIntelligenceWrites } from './intelligence-write.ts';

/**
 * The databases of a data folder, each a file of its own, and what is written to them: functions that run on the
 * writer's thread, in transactions of their own.
 */
export const PARTS = {
  intelligence: createIntelligenceWrites,
  control: createControlWrites,
} satisfies Record<Part, unknown>;

/** What can be asked of a part's writer. */
export type Writes<P extends Part> = ReturnType<(typeof PARTS)[P]>;
