import type { Settings } from '../config/settings.ts';
import { everyMs } from '../core/every.ts';
import type { Log, Outages } from '../health/outages.ts';
import type { ServerNode } from '../health/store.ts';
import { createCounterDeletion } from '../limits/counters-redis.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Totals } from '../portal/totals.ts';
import type { RedisLink } from '../redis/link.ts';
import { startChangeCleanup } from './change-cleanup.ts';
import { startIntegrityChecks } from './integrity-sweep.ts';
import { announceNode } from './nodes.ts';
import type { Control, Intelligence } from './stores.ts';
import { startUsageCleanup } from './usage-cleanup.ts';

type BackgroundParts = {
  settings: Settings;
  store: Intelligence;
  control: Control;
  redis: RedisLink | null;
  totals: Totals;
  node: Omit<ServerNode, 'startedTs' | 'seenTs'>;
  outages: Outages;
  metrics: Metrics | undefined;
  log: Log<'error' | 'warn'>;
  now(): number;
  onFailure(task: 'usage_cleanup' | 'change_cleanup' | 'node_write'): (error: unknown) => void;
  /** Called when it changes whether rows contradict each other. */
  onFaults(hasFaults: boolean): void;
};

/** Requests that have waited for the start come first: this work would take both cores of a small machine from them. */
const DELAY_MS = 300;

/** Starts the work of a server for which no request waits, a moment after the server has begun to answer. */
export function startBackground(parts: BackgroundParts): { close(): Promise<void> } {
  const { settings, store, control, redis, totals, node, outages, metrics, log, now, onFailure, onFaults } = parts;
  const open: { close(): unknown }[] = [];
  const timer = setTimeout(() => {
    if (!settings.noPortal) totals.start();
    const { usageMonths, changeDays } = settings;
    const daily = { control, now, every: everyMs };
    const cleanups = [
      startChangeCleanup({ ...daily, store, changeDays, onFailure: onFailure('change_cleanup') }),
      startUsageCleanup({
        ...daily,
        usageMonths,
        onFailure: onFailure('usage_cleanup'),
        deleteCounters: redis && createCounterDeletion(redis),
      }),
    ];
    open.push(
      announceNode({ control, node, now, every: everyMs, onFailure: onFailure('node_write') }),
      ...cleanups,
      startIntegrityChecks({ store, outages, metrics, log, onFaults }),
    );
    for (const cleanup of cleanups) void cleanup.runDue();
  }, DELAY_MS);
  return {
    async close(): Promise<void> {
      clearTimeout(timer);
      for (const part of open) await part.close();
    },
  };
}
