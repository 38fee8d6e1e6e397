import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { programVersion } from '../config/version.ts';
import { type Cell, createBuckets, observe, registerCounter, registerHistogram } from './cells.ts';
import { type FeedGauges, registerDataGauge, registerFeedGauges } from './feed-gauges.ts';

/** Records a response that was sent completely. */
export type RecordResponse = (method: string, status: number, seconds: number) => void;

export type RouteMetrics = {
  answered: RecordResponse;
  /** Of a stream: records how long it took until the first record was found. */
  firstRecord?(seconds: number): void;
};

/**
 * The metrics of this process. Label values are route patterns, names of feeds and fixed words, never URLs, usernames or
 * accounts: each new value creates a time series that a monitoring system stores for months.
 */
export type Metrics = {
  /** To be called once for each route pattern. */
  route(pattern: string): RouteMetrics;
  /** The same for a route that answers with a stream: the time of its reader must not look like a slow answer. */
  streamRoute(pattern: string): RouteMetrics;
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

/** All other methods are counted together. */
const OTHER_METHODS = 'other';
const FIRST_THREAD = 0;

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', OTHER_METHODS]);

/** From a lookup in cached pages to the end of the query budget. */
const RESPONSE_BOUNDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The fastest stream sends one page, the slowest one feeds a slow reader for an hour. */
const STREAM_BOUNDS = [0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10, 25, 60, 300, 900, 3600];
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

function createResponses(registry: Registry, thread: number): Pick<Metrics, 'route' | 'streamRoute'> {
  const counts: Cell<number>[] = [];
  const times = createTimes(
    registry,
    {
      name: 'urlwarden_http_request_seconds',
      help: 'Time from the start of a request to the end of its response, without streams',
    },
    RESPONSE_BOUNDS,
  );
  const streamTimes = createTimes(
    registry,
    { name: 'urlwarden_http_stream_seconds', help: 'Time from the start of a request to the end of its stream' },
    STREAM_BOUNDS,
  );
  const firstTimes = createTimes(
    registry,
    {
      name: 'urlwarden_http_stream_first_record_seconds',
      help: 'Time from the start of a request until the first record of its stream is found',
    },
    RESPONSE_BOUNDS,
  );
  const text = { name: 'urlwarden_http_requests_total', help: 'Responses by route pattern, method and status' };
  registerCounter(registry, text, ['route', 'method', 'status'], () => counts);
  const byThread = { name: 'urlwarden_thread_responses_total', help: 'Responses by the thread that sent them' };
  registerCounter(registry, byThread, ['thread'], () => [
    { labels: { thread: `${thread}` }, value: counts.reduce((sum, { value }) => sum + value, 0) },
  ]);

  function answered(route: string, observerOf: (statusClass: string) => ObserveSeconds): RecordResponse {
    const cellOf = createCellFinder(route, counts, perClass(observerOf));
    return (method, status, seconds) => {
      const { count, observeSeconds } = cellOf(method, status);
      count.value++;
      observeSeconds(seconds);
    };
  }
  const ofClass = (route: string) => (statusClass: string) => times({ route, status_class: statusClass });
  return {
    route: (route) => ({ answered: answered(route, ofClass(route)) }),
    streamRoute(route) {
      // A refused stream is an ordinary response.
      const observerOf = (statusClass: string) =>
        statusClass === SUCCESS ? streamTimes({ route }) : ofClass(route)(statusClass);
      return { answered: answered(route, observerOf), firstRecord: firstTimes({ route }) };
    },
  };
}

type ObserveSeconds = (seconds: number) => void;

const SUCCESS = '2xx';

/** The histogram of each class of status, created when it is needed. */
function perClass(create: (statusClass: string) => ObserveSeconds): (status: number) => ObserveSeconds {
  const byClass = new Map<string, ObserveSeconds>();
  return (status) => {
    const statusClass = `${Math.floor(status / 100)}xx`;
    const observer = byClass.get(statusClass) ?? create(statusClass);
    byClass.set(statusClass, observer);
    return observer;
  };
}

type ResponseCell = { count: Cell<number>; observeSeconds: ObserveSeconds };

/** Cells are found by the unchanged method, without building a string. Node's parser accepts about thirty methods. */
function createCellFinder(route: string, counts: Cell<number>[], observerOf: (status: number) => ObserveSeconds) {
  const byMethod = new Map<string, Map<number, ResponseCell>>();
  const cellOf = (method: string, status: number): ResponseCell =>
    byMethod.get(method)?.get(status) ?? addCell(method, status);
  const addCell = (method: string, status: number): ResponseCell => {
    const cell = METHODS.has(method) ? createCell(method, status) : cellOf(OTHER_METHODS, status);
    byMethod.set(method, (byMethod.get(method) ?? new Map()).set(status, cell));
    return cell;
  };
  const createCell = (method: string, status: number): ResponseCell => {
    const count = { labels: { route, method, status: `${status}` }, value: 0 };
    counts.push(count);
    return { count, observeSeconds: observerOf(status) };
  };
  return cellOf;
}

function createStoreCalls(registry: Registry): Metrics['storeCall'] {
  const text = { name: 'urlwarden_store_seconds', help: 'Duration of store calls; for a stream, of each page' };
  const times = createTimes(registry, text, STORE_BOUNDS);
  return (store, operation) => times({ store, operation });
}

function createTimes(registry: Registry, text: { name: string; help: string }, bounds: readonly number[]) {
  const cells: Cell<ReturnType<typeof createBuckets>>[] = [];
  registerHistogram(registry, text, () => cells);
  return (labels: Record<string, string>) => {
    const value = createBuckets(bounds);
    cells.push({ labels, value });
    return (seconds: number) => observe(value, seconds);
  };
}

/** A pool of database connections: its limit, its open connections, and how many callers wait for one. */
export type PoolLoad = { pool: string; connections: number; inUse: number; idle: number; waiting: number };

function registerPoolGauges(registry: Registry, loads: () => PoolLoad[]): void {
  const register = (name: string, help: string, labelNames: string[], set: (gauge: Gauge, load: PoolLoad) => void) => {
    new Gauge({
      name: `urlwarden_database_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const load of loads()) set(this, load);
      },
    });
  };
  register('connections_max', 'Connections to PostgreSQL that the pool may open', ['pool'], (gauge, load) =>
    gauge.set({ pool: load.pool }, load.connections),
  );
  register('connections', 'Open connections to PostgreSQL', ['pool', 'state'], (gauge, { pool, inUse, idle }) => {
    gauge.set({ pool, state: 'in_use' }, inUse);
    gauge.set({ pool, state: 'idle' }, idle);
  });
  register('waiting', 'Statements and transactions that wait for a connection', ['pool'], (gauge, load) =>
    gauge.set({ pool: load.pool }, load.waiting),
  );
}

/** The sizes of an embedded database and of its write-ahead log. */
export type FileSizes = { database: string; fileBytes: number; walBytes: number };

function registerFileGauges(registry: Registry, sizes: () => FileSizes[]): void {
  const register = (name: string, help: string, value: (sizes: FileSizes) => number) => {
    new Gauge({
      name: `urlwarden_database_${name}_bytes`,
      help,
      labelNames: ['database'],
      registers: [registry],
      collect() {
        for (const one of sizes()) this.set({ database: one.database }, value(one));
      },
    });
  };
  register('file', 'Size of the database file', ({ fileBytes }) => fileBytes);
  register('wal', 'Size of the write-ahead log of the database file', ({ walBytes }) => walBytes);
}
