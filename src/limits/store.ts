/** Queries counted for an account in a UTC day (days since 1970) and in its month (months since 1970). */
export type Usage = { sub: string; day: number; month: number; count: number };

/** What the counters keep beyond a restart. Throws an AppError `unavailable` when the database does not answer. */
export type UsageStore = {
  /** The counts of the given day and of the given month. */
  usage(sub: string, day: number, month: number): Promise<{ day: number; month: number }>;
  /** Adds to what is there, all of it or nothing; counts may be negative (given back), a sum never is. */
  addUsage(usage: readonly Usage[]): Promise<void>;
};
