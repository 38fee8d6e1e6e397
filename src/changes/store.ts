/** What happened to what; see docs/api.md. */
export const CHANGE_OPERATIONS = ['add', 'update', 'remove'] as const;
export const CHANGE_KINDS = ['url', 'listing', 'domain'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** A page of the change feed: lines of JSON without their ends, in order of `seq`. */
export type ChangePage = { lines: string[]; lastSeq: number };

/** The port of the change feed. Its numbers become visible in their order: no number below one that was read appears later. */
export type ChangeStore = {
  /** The newest number; 0 without any. Every write to the intelligence database makes it grow. */
  newestChange(): number | Promise<number>;
  /** The oldest number that is kept, minus one: a reader with a smaller cursor has missed changes. */
  oldestCursor(): Promise<number>;
  /** At most `limit` changes after `after` of these kinds. `lastSeq` also counts what was skipped. */
  changesAfter(after: number, kinds: readonly ChangeKind[], limit: number): Promise<ChangePage>;
  /** Deletes up to `limit` changes that are older; returns how many. */
  removeOldChanges(beforeTs: number, limit: number): Promise<number>;
};
