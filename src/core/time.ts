/** Converts milliseconds to Unix seconds, the unit of every `ts`. */
export function toTs(ms: number): number {
  return Math.floor(ms / 1000);
}

/** A day of Unix time, which counts no leap seconds. */
export const DAY_SECONDS = 86_400;

/** The number of the UTC day that contains `ts`, since 1970. */
export function dayOf(ts: number): number {
  return Math.floor(ts / DAY_SECONDS);
}

/** The later of two times; null is unknown. */
export function laterOf(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

/** A time range, both ends included. It is empty if `since` is after `until`. */
export type TimeWindow = { since: number; until: number };

/**
 * The time window of a query. Without `since` it starts twelve calendar months before now; without `until` it ends now.
 * Null (an error) only if the client sent both in the wrong order: a client whose clock is ahead of the server's and that
 * sends only `since` gets an empty window.
 */
export function timeWindow(since: number | undefined, until: number | undefined, now: number): TimeWindow | null {
  if (since !== undefined && until !== undefined && since > until) return null;
  return { since: since ?? twelveMonthsBefore(now), until: until ?? now };
}

/** 29 February maps to the last day of February in the year before. */
function twelveMonthsBefore(ts: number): number {
  const date = new Date(ts * 1000);
  const month = date.getUTCMonth();
  date.setUTCFullYear(date.getUTCFullYear() - 1);
  if (date.getUTCMonth() !== month) date.setUTCDate(0);
  return Math.floor(date.getTime() / 1000);
}

/** The greatest time that a Date can hold. */
const MAX_DATE_SECONDS = 8.64e12;

/** The UTC day of a time, for people: 2026-01-31. Data of others may have any number as a time. */
export function dayText(ts: number): string {
  return ts > MAX_DATE_SECONDS ? `second ${ts}` : new Date(ts * 1000).toISOString().slice(0, 10);
}

/** ISO 8601, in UTC: 2026-01-31T12:00:00Z. For times of our own clock. */
export function timeText(ts: number): string {
  return new Date(ts * 1000).toISOString().replace('.000Z', 'Z');
}
