import type { Counts, Policy } from '../core/quota.ts';
import type { MonthUsage, WrongMonth } from './usage-rules.ts';

/** Queries counted for an account in a UTC day (days since 1970) and in its month (months since 1970). */
export type Usage = { sub: string; day: number; month: number; count: number };

/** `day` in days since 1970. */
export type DayUsage = { day: number; count: number };

/** The counts that survive a restart. Throws an AppError `unavailable` when the database does not answer. */
export type UsageStore = {
  /** The counts of the given day and of the given month. */
  usage(sub: string, day: number, month: number): Promise<{ day: number; month: number }>;
  /** Days with queries from `fromDay` to `toDay`, both included, in their order. */
  usageByDay(sub: string, fromDay: number, toDay: number): Promise<DayUsage[]>;
  /** Adds the counts, all of them or none. A count may be negative (a refund); a sum never is. */
  addUsage(usage: readonly Usage[]): Promise<void>;
  /** Checks the counts of the next account after `sub`: a month must be the sum of its days. Null after the last one. */
  checkUsage(sub: string): Promise<CheckedUsage | null>;
  /** Sets the months of an account to the sums of their days; returns those that were wrong. */
  repairUsage(sub: string): Promise<WrongMonth[]>;

  /** Pages with the usage of all accounts in a month, also of removed ones, sorted by sub. */
  monthUsage(month: number): AsyncIterable<MonthUsage[]>;
  /** When the usage of the month was reported for good; null if it was not. */
  reportedTs(month: number): Promise<number | null>;
  /** A month that is marked already keeps its time. */
  markReported(month: number, ts: number): Promise<void>;
  /**
   * Deletes usage before the month, and usage of removed accounts in reported months: a bounded number of rows, days
   * together with their month. Then forgets accounts that were removed before `removedTs` and have no usage. Returns the
   * number of rows of usage; 0 means that nothing is left to delete.
   */
  deleteOldUsage(before: { month: number; removedTs: number }): Promise<number>;
};

type CheckedUsage = { sub: string; rows: number; wrong: WrongMonth[] };

/** Counts of an account; `ts` is the second in which they were read, by the clock of the counters. */
export type Reading = { counts: Counts; ts: number };

export type Admission = Reading & { isAdmitted: boolean };

/** Counters of queries by account and window. Day and month survive a restart; the shorter windows need not. */
export type Counters = {
  /**
   * Admits a query if every counter is below its limit, and then adds its whole weight to all of them, atomically.
   * Otherwise adds nothing.
   */
  take(sub: string, policies: readonly Policy[], weight: number): Admission | Promise<Admission>;
  /** Counts a call that is not a query, in its second only and separately from queries. */
  takeCall(sub: string, limit: number): Promise<Admission>;
  read(sub: string): Promise<Reading>;
  /** Subtracts the weight of a query of `ts`, which failed on our side, from its day and its month. */
  refund(sub: string, weight: number, ts: number): Promise<void>;
  /** Returns the function that ends the stream; null if the account has `max` streams open in this process. */
  openStream(sub: string, max: number): Promise<(() => void) | null>;
  /** How many streams are open on this thread. */
  countStreams(): number;
};
