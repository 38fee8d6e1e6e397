import { Counter, type Metric, type Registry } from 'prom-client';

/**
 * Counters and histograms for what happens with every request. prom-client finds the place of a value anew each time it
 * is told one, by a text made of all labels: 0.8 µs for a counter and 1.4 µs for a histogram, in a loop that does nothing
 * else. Here the place is found once, and the registry is given the numbers when somebody asks for them.
 */
export type Cell<Value> = { labels: Record<string, string>; value: Value };

export type MetricText = { name: string; help: string };

/** Calls `cells` for every scrape. */
export function registerCounter(
  registry: Registry,
  { name, help }: MetricText,
  labelNames: string[],
  cells: () => Iterable<Cell<number>>,
): void {
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, value } of cells()) this.inc(labels, value);
    },
  });
}

export type Buckets = {
  /** Upper ends, included, in rising order. */
  bounds: readonly number[];
  /** How many values fell into each, and at last those above all bounds. */
  counts: Float64Array;
  sum: number;
};

export function createBuckets(bounds: readonly number[]): Buckets {
  return { bounds, counts: new Float64Array(bounds.length + 1), sum: 0 };
}

export function observe(buckets: Buckets, value: number): void {
  const { bounds, counts } = buckets;
  let i = 0;
  while (i < bounds.length && value > (bounds[i] as number)) i++;
  counts[i] = (counts[i] as number) + 1;
  buckets.sum += value;
}

/** Calls `cells` for every scrape. Those without a value are left out: a hundred of them would be most of the text. */
export function registerHistogram(
  registry: Registry,
  { name, help }: MetricText,
  cells: () => Iterable<Cell<Buckets>>,
): void {
  const get = async () => ({ name, help, type: 'histogram', values: [...cells()].flatMap((cell) => rows(name, cell)) });
  // The registry asks a metric for nothing but this; its types name prom-client's own classes.
  registry.registerMetric({ name, get } as unknown as Metric);
}

/** As the text format has a histogram: each bucket counts all values up to its end. */
function rows(name: string, { labels, value: { bounds, counts, sum } }: Cell<Buckets>) {
  let count = 0;
  const buckets = Array.from(counts, (inside, i) => {
    count += inside;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: `${bounds[i] ?? '+Inf'}` }, value: count };
  });
  if (count === 0) return [];
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
