import type { Counts, Policy } from '../core/quota.ts';

/** What a counter says after it was asked; `ts` is the second by the clock that the counters go by. */
export type Reading = { counts: Counts; ts: number };

export type Admission = Reading & { isAdmitted: boolean };

/**
 * Counters of queries by account and window. Day and month outlive the process; the shorter windows need not.
 */
export type Counters = {
  /**
   * Admits a query when every counter is below its limit, and then adds its whole weight to all of them, atomically;
   * otherwise adds nothing.
   */
  take(sub: string, policies: readonly Policy[], weight: number): Admission | Promise<Admission>;
  /** A call that is no query, counted in its second only and apart from queries. */
  takeCall(sub: string, limit: number): Promise<Admission>;
  read(sub: string): Promise<Reading>;
  /** Takes the weight of a query of `ts` that failed on our side back from its day and its month. */
  giveBack(sub: string, weight: number, ts: number): Promise<void>;
  /** After it nothing counted is lost. */
  close(): Promise<void>;
};
