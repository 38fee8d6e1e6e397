import type { EntryKind } from '../core/timeline.ts';

/**
 * A kind is stored as its index here, on every engine; the order is the one in which entries stand at equal
 * times, but for the last: where such an entry stands does not matter.
 */
export const ENTRY_KINDS = [
  'added',
  'online',
  'offline',
  'removed',
  'offline_after_removal',
  'removed_again',
  'offline_again',
] as const satisfies readonly EntryKind[];

/** The kinds before it are online. */
export const FIRST_OFFLINE_KIND = 2;
/** The kinds from here on are confirmations and not shown. */
export const FIRST_HIDDEN_KIND = 4;
/** `offline_again` */
export const OFFLINE_AGAIN_KIND = 6;
