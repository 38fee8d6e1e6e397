import { joinMetrics, type Metrics } from '../../src/metrics/metrics.ts';

/** The metrics of a process with one thread. */
export async function textOf(metrics: Metrics): Promise<string> {
  return joinMetrics([await metrics.read()]).text();
}
