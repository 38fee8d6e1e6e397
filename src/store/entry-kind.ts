import type { EntryKind } from '../core/timeline.ts';

/** A kind is stored as its index here, on every engine; the order is the one in which entries stand at equal times. */
export const ENTRY_KINDS = [
  'added',
  'online',
  'offline',
  'removed',
  'offline_after_removal',
  'removed_again',
] as const satisfies readonly EntryKind[];

/** The kinds from here on confirm a removal and are not shown. */
export const FIRST_HIDDEN_KIND = 4;
