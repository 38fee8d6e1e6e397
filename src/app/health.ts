import { everyMs } from '../core/every.ts';
import { type DatabaseWatch, watchDatabase } from '../health/database-watch.ts';
import type { Outages } from '../health/outages.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Control, Intelligence } from './stores.ts';

type WatchedParts = { store: Intelligence; control: Control; outages: Outages; metrics: Metrics | undefined };

/** Checks both databases once a second, for readiness and metrics. */
export function watchStores({ store, control, outages, metrics }: WatchedParts): DatabaseWatch {
  const check = () => Promise.all([store.ready(), control.version()]);
  const watch = watchDatabase({ check, outages, nowMs: () => performance.now(), every: everyMs });
  metrics?.watchDatabase(watch.isUp, outages.isDamaged);
  if (store.pools === undefined) {
    metrics?.watchDisk(store.freeBytes);
    metrics?.watchFiles(() => [store, control].flatMap(({ sizes }) => sizes?.() ?? []));
  }
  return watch;
}
