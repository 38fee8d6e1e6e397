import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { programVersion } from '../config/version.ts';
import { createHistogram } from './cells.ts';
import {
  type FileSizes,
  type PoolLoad,
  type ReplicaState,
  registerFileGauges,
  registerPoolGauges,
  registerReplicaGauge,
} from './database-gauges.ts';
import { type FeedGauges, registerDataGauge, registerFeedGauges } from './feed-gauges.ts';
import { createResponses, RESPONSE_BOUNDS, type ResponseMetrics } from './responses.ts';

/**
 * The metrics of this process. Label values are route patterns, names of feeds and fixed words, never URLs, usernames or
 * accounts: each new value creates a time series that a monitoring system stores for months.
 */
export type Metrics = ResponseMetrics & {
  /** Counts a request that was refused before its path was parsed. */
  unreadable(status: number): void;
  /** Counts a response that was not sent completely: the client disconnected, or a stream failed. */
  aborted(): void;
  /** Counts a refusal by the name of the limit in the API. */
  refused(limit: string): void;
  /** Counts a login, successful or not. */
  loginEnded(outcome: string): void;
  /** To be called once for each operation. Returns the function that records the duration of a call. */
  storeCall(store: string, operation: string): (seconds: number) => void;
  /** Counts a failed background task, which will be retried. */
  failed(task: (typeof TASKS)[number]): void;
  /** Counts a run of a feed in this process. */
  feedRan(feed: string, outcome: string): void;
  /** Counts a query that was counted only on this node, because Redis is down. */
  countedLocally(): void;
  /** Both are called at every scrape. */
  watchDatabase(isUp: () => boolean, isDamaged: () => boolean): void;
  /** `countFaults` is called at every scrape. */
  watchIntegrity(countFaults: () => number): void;
  /** `freeBytes` is called at every scrape; null if it is unknown. */
  watchDisk(freeBytes: () => number | null): void;
  /** `sizes` is called at every scrape. */
  watchFiles(sizes: () => FileSizes[]): void;
  /** `expiryTs` is called at every scrape: when the certificate of the API expires, in Unix seconds. */
  watchCertificate(expiryTs: () => number): void;
  /** `loads` is called at every scrape. */
  watchPools(loads: () => PoolLoad[]): void;
  /** `states` is called at every scrape. */
  watchReplicas(states: () => ReplicaState[]): void;
  /** `isUp` is called at every scrape. */
  watchRedis(isUp: () => boolean): void;
  /** `open` is called at every scrape. */
  watchStreams(open: () => number): void;
  /** `feeds` is called at every scrape. */
  watchFeeds(feeds: () => Promise<FeedGauges[]>): void;
  /** `confirmedTs` is called at every scrape: the newest time at which a source saw a URL; null if none did. */
  watchData(confirmedTs: () => Promise<number | null>): void;
  /** Counts a thread that ended and was replaced. */
  threadEnded(): void;
  read(): Promise<MetricValues>;
};

/** The metrics of a thread, which can be sent to another one. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The media type of the Prometheus text format. */
export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** The metrics of all threads as one: values with the same labels are summed. */
export function joinMetrics(threads: readonly MetricValues[]): {
  text(): Promise<string>;
  read(): Promise<MetricValues>;
} {
  const registry = AggregatorRegistry.aggregate([...threads]);
  return { text: () => registry.metrics(), read: () => registry.getMetricsAsJSON() };
}

const TASKS = [
  'usage_write',
  'usage_cleanup',
  'change_cleanup',
  'account_poll',
  'session_write',
  'feed_poll',
  'totals_count',
  'node_write',
  'list_build',
] as const;

/** The names of limits in the API. */
const LIMITS = ['rl_qps', 'rl_qpm', 'rl_qph', 'qmh', 'streams', 'calls'];

const FIRST_THREAD = 0;

/** A lookup in the embedded store takes 20 µs. */
const STORE_BOUNDS = [0.00001, 0.000025, 0.00005, 0.0001, ...RESPONSE_BOUNDS];

/** Gauges of prom-client with the suffix of a counter. The gauges without the suffix have the same numbers by type. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Metrics of prom-client about the whole process, not about a thread. */
const OF_PROCESS = /^process_|^nodejs_version_info$/;

/** `thread` is the number of this thread in the process. */
export function createMetrics(thread = FIRST_THREAD): Metrics {
  const registry = new Registry();
  /** `known` values are exported as 0 from the start: an increase from no value to 1 is invisible to Prometheus. */
  const count = (name: string, help: string, label: string, known: readonly string[] = []) => {
    const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
    for (const value of known) counter.inc({ [label]: value }, 0);
    return (value: string | number) => counter.inc({ [label]: value });
  };
  const aborted = new Counter({
    name: 'urlwarden_http_aborted_total',
    help: 'Connections closed before their response was sent completely',
    registers: [registry],
  });
  const feedRuns = new Counter({
    name: 'urlwarden_feed_runs_total',
    help: 'Runs of feeds in this process, by outcome',
    labelNames: ['feed', 'outcome'],
    registers: [registry],
  });
  const countedLocally = new Counter({
    name: 'urlwarden_counted_locally_total',
    help: 'Queries counted only on this node because Redis is down',
    registers: [registry],
  });
  const watch = (name: string, help: string, value: () => number) => {
    const collect = function (this: Gauge) {
      this.set(value());
    };
    new Gauge({ name, help, registers: [registry], collect });
  };
  // With the number of the thread, because they cannot be summed over threads.
  collectDefaultMetrics({ register: registry, labels: { thread: `${thread}` } });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  if (thread === FIRST_THREAD) registerBuildInfo(registry);
  const threadsEnded = new Counter({
    name: 'urlwarden_threads_ended_total',
    help: 'Threads that ended because of an error and were replaced',
    registers: [registry],
  });
  return {
    ...createResponses(registry, thread),
    unreadable: count('urlwarden_http_unreadable_total', 'Requests refused before their path was parsed', 'status'),
    aborted: () => aborted.inc(),
    refused: count('urlwarden_limit_refusals_total', 'Requests refused because a limit was reached', 'limit', LIMITS),
    loginEnded: count('urlwarden_logins_total', 'Logins by outcome', 'outcome'),
    storeCall: createStoreCalls(registry),
    failed: count('urlwarden_task_failures_total', 'Failed background tasks, which are retried', 'task', TASKS),
    feedRan: (feed, outcome) => feedRuns.inc({ feed, outcome }),
    watchFeeds: (feeds) => registerFeedGauges(registry, feeds),
    watchData: (confirmedTs) => registerDataGauge(registry, confirmedTs),
    countedLocally: () => countedLocally.inc(),
    watchDatabase(isUp, isDamaged) {
      watch('urlwarden_database_up', '1 while the database answers, 0 while it does not', () => Number(isUp()));
      watch('urlwarden_database_damaged', '1 if a part of the database could not be read', () => Number(isDamaged()));
    },
    watchIntegrity(countFaults) {
      watch(
        'urlwarden_integrity_faults',
        'Rows that contradict others, found by the check in the background',
        countFaults,
      );
    },
    watchDisk(freeBytes) {
      watch('urlwarden_disk_free_bytes', 'Free space on the disk of the data folder', () => freeBytes() ?? Number.NaN);
    },
    watchFiles: (sizes) => registerFileGauges(registry, sizes),
    watchCertificate(expiryTs) {
      const name = 'urlwarden_tls_certificate_expiry_timestamp_seconds';
      watch(name, 'Time at which the certificate of the API expires', expiryTs);
    },
    watchPools: (loads) => registerPoolGauges(registry, loads),
    watchReplicas: (states) => registerReplicaGauge(registry, states),
    watchRedis: (isUp) => watch('urlwarden_redis_up', '1 while Redis is up, 0 while it is down', () => Number(isUp())),
    watchStreams: (open) => watch('urlwarden_open_streams', 'Open response streams', open),
    threadEnded: () => threadsEnded.inc(),
    async read() {
      // prom-client would leave out the time of the start. No two threads have a gauge with the same labels.
      const all = (await registry.getMetricsAsJSON()).map((metric) => ({ ...metric, aggregator: 'sum' as const }));
      const ofThread = all.filter(({ name }) => !OF_PROCESS.test(name));
      if (thread !== FIRST_THREAD) return ofThread;
      return [...ofThread, ...all.filter(({ name }) => OF_PROCESS.test(name)).map(withoutThread)];
    },
  };
}

function withoutThread(metric: MetricValues[number]): MetricValues[number] {
  const values = metric.values.map(({ labels: { thread: _thread, ...labels }, ...value }) => ({ ...value, labels }));
  return { ...metric, values };
}

function registerBuildInfo(registry: Registry): void {
  const help = 'The versions of the program and of Node.js, as labels; the value is always 1';
  const labelNames = ['version', 'node'];
  const gauge = new Gauge({ name: 'urlwarden_build_info', help, labelNames, registers: [registry] });
  gauge.set({ version: programVersion(), node: process.version }, 1);
}

function createStoreCalls(registry: Registry): Metrics['storeCall'] {
  const text = { name: 'urlwarden_store_seconds', help: 'Duration of store calls; for a stream, of each page' };
  const times = createHistogram(registry, text, STORE_BOUNDS);
  return (store, operation) => times({ store, operation });
}
