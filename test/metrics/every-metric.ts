import { createMetrics } from '../../src/metrics/metrics.ts';
import { textOf } from './text.ts';

/** The output of `/metrics` of a server that has everything, whatever its engine: each metric with at least one row. */
export async function everyMetric(): Promise<string> {
  const metrics = createMetrics();
  const { responded, firstRecord } = metrics.streamRoute('/stream');
  metrics.route('/route').responded('GET', 200, 0.001);
  responded('POST', 200, 1);
  firstRecord?.(0.001);
  metrics.unreadable(400);
  metrics.aborted();
  metrics.refused('qmh');
  metrics.loginEnded('ok');
  metrics.storeCall('control', 'accounts')(0.001);
  metrics.failed('usage_write');
  metrics.feedRan('a', 'imported');
  metrics.countedLocally();
  metrics.watchDatabase(
    () => true,
    () => false,
  );
  metrics.watchIntegrity(() => 0);
  metrics.watchDisk(() => 1e9);
  metrics.watchFiles(() => [{ database: 'control', fileBytes: 4096, walBytes: 0 }]);
  metrics.watchCertificate(() => 1_767_225_600);
  metrics.watchPools(() => [{ pool: 'data', connections: 10, inUse: 1, idle: 2, waiting: 0 }]);
  metrics.watchReplicas(() => [{ pool: 'replica 1', isUp: true }]);
  metrics.watchRedis(() => true);
  metrics.watchStreams(() => 0);
  metrics.watchFeeds(async () => [{ name: 'a', lastSuccessTs: 1, rows: 1, failures: 0, isStale: false }]);
  metrics.watchData(async () => 1_767_225_600);
  return textOf(metrics);
}

/** The names of all series in such an output, with the names of their labels in order; of a histogram also `_bucket`, …. */
export function labelsByName(text: string): Map<string, string[]> {
  const labels = new Map<string, string[]>();
  for (const [, name = '', inside = ''] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    labels.set(
      name,
      [...inside.matchAll(/(\w+)="/g)].map(([, label]) => `${label}`),
    );
  }
  return labels;
}
