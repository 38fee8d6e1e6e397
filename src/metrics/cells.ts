import { Counter, type Metric, type Registry } from 'prom-client';

/**
 * Counters and histograms for events of every request. On each update prom-client builds a string of all labels to find
 * the value: 0.8 µs for a counter and 1.4 µs for a histogram, in a loop without other work. Here a caller looks up the
 * cell once, and the registry collects the values at each scrape.
 */
export type Cell<Value> = { labels: Record<string, string>; value: Value };

type MetricText = { name: string; help: string };

/** Calls `cells` at every scrape. */
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

type Buckets = {
  /** Inclusive upper bounds, in ascending order. */
  bounds: readonly number[];
  /** The number of values in each bucket; the last bucket holds the values above all bounds. */
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

/** Calls `cells` at every scrape. Empty cells are omitted: a hundred of them would be most of the output. */
export function registerHistogram(
  registry: Registry,
  { name, help }: MetricText,
  cells: () => Iterable<Cell<Buckets>>,
): void {
  const get = async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: [...cells()].flatMap((cell) => rows(name, cell)),
  });
  // The registry uses only these two properties, but its types require a class of prom-client.
  registry.registerMetric({ name, get } as unknown as Metric);
}

/** In the text format the buckets are cumulative: each counts all values up to its bound. */
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

/** A histogram of durations. The result creates the cell of some labels, and returns the function that records in it. */
export function createHistogram(registry: Registry, text: MetricText, bounds: readonly number[]) {
  const cells: Cell<Buckets>[] = [];
  registerHistogram(registry, text, () => cells);
  return (labels: Record<string, string>) => {
    const value = createBuckets(bounds);
    cells.push({ labels, value });
    return (seconds: number) => observe(value, seconds);
  };
}
