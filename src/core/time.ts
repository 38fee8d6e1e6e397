/** Unix seconds, in which every `ts` is, from the milliseconds of a clock. */
export function toTs(ms: number): number {
  return Math.floor(ms / 1000);
}

/** A span of time, both ends included. It is empty when `since` is after `until`. */
export type TimeWindow = { since: number; until: number };

/**
 * The window of a query that names the given ends. Without `since` it opens twelve calendar months before now;
 * without `until` it closes now. Only a caller who sent both ends can have sent them in the wrong order: one whose
 * clock runs ahead of ours gets an empty window, not an error.
 */
export function timeWindow(since: number | undefined, until: number | undefined, now: number): TimeWindow | null {
  if (since !== undefined && until !== undefined && since > until) return null;
  return { since: since ?? twelveMonthsBefore(now), until: until ?? now };
}

/** 29 February has no counterpart in the year before: the last day of that February stands in for it. */
export function twelveMonthsBefore(ts: number): number {
  const date = new Date(ts * 1000);
  const month = date.getUTCMonth();
  date.setUTCFullYear(date.getUTCFullYear() - 1);
  if (date.getUTCMonth() !== month) date.setUTCDate(0);
  return Math.floor(date.getTime() / 1000);
}
