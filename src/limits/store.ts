/** Queries counted for an account in a UTC day (days since 1970) and in its month (months since 1970). */
export type Usage = { sub: string; day: number; month: number; count: number };

/** The counts that survive a restart. Throws an AppError `unavailable` when the database does not answer. */
export type UsageStore = {
  /** The counts of the given day and of the given month. */
  usage(sub: string, day: number, month: number): Promise<{ day: number; month: number }>;
  /** Adds the counts, all of them or none. A count may be negative (a refund); a sum never is. */
  addUsage(usage: readonly Usage[]): Promise<void>;
};
