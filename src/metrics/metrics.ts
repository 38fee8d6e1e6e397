import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Cell, createBuckets, observe, registerCounter, registerHistogram } from './cells.ts';

/** Records a response that was sent completely. */
export type RecordResponse = (method: string, status: number, seconds: number) => void;

/**
 * The metrics of this process. Label values are route patterns, names of feeds and fixed words, never URLs, usernames or
 * accounts: each new value creates a time series that a monitoring system stores for months.
 */
export type Metrics = {
  /** To be called once for each route pattern. */
  route(pattern: string): RecordResponse;
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
  failed(task: 'usage_write' | 'usage_cleanup' | 'account_poll' | 'feed_poll'): void;
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
  /** `loads` is called at every scrape. */
  watchPools(loads: () => PoolLoad[]): void;
  /** `isUp` is called at every scrape. */
  watchRedis(isUp: () => boolean): void;
  /** `open` is called at every scrape. */
  watchStreams(open: () => number): void;
  /** `feeds` is called at every scrape. */
  watchFeeds(feeds: () => Promise<FeedGauges[]>): void;
  /** The media type of the Prometheus text format. */
  contentType: string;
  text(): Promise<string>;
};

/** All other methods are counted together. */
const OTHER_METHODS = 'other';
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', OTHER_METHODS]);

/** From a lookup in cached pages to the end of the query budget. */
const RESPONSE_BOUNDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** A lookup in the embedded store takes 20 µs. */
const STORE_BOUNDS = [0.00001, 0.000025, 0.00005, 0.0001, ...RESPONSE_BOUNDS];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const count = (name: string, help: string, label: string) => {
    const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
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
  collectDefaultMetrics({ register: registry });
  return {
    route: createResponses(registry),
    unreadable: count('urlwarden_http_unreadable_total', 'Requests refused before their path was parsed', 'status'),
    aborted: () => aborted.inc(),
    refused: count('urlwarden_limit_refusals_total', 'Requests refused because a limit was reached', 'limit'),
    loginEnded: count('urlwarden_logins_total', 'Logins by outcome', 'outcome'),
    storeCall: createStoreCalls(registry),
    failed: count('urlwarden_task_failures_total', 'Failed background tasks, which are retried', 'task'),
    feedRan: (feed, outcome) => feedRuns.inc({ feed, outcome }),
    watchFeeds: (feeds) => registerFeedGauges(registry, feeds),
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
    watchPools: (loads) => registerPoolGauges(registry, loads),
    watchRedis: (isUp) => watch('urlwarden_redis_up', '1 while Redis is up, 0 while it is down', () => Number(isUp())),
    watchStreams: (open) => watch('urlwarden_open_streams', 'Open response streams', open),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

function createResponses(registry: Registry): Metrics['route'] {
  const counts: Cell<number>[] = [];
  const times = createTimes(
    registry,
    { name: 'urlwarden_http_request_seconds', help: 'Time from the start of a request to the end of its response' },
    RESPONSE_BOUNDS,
  );
  const text = { name: 'urlwarden_http_requests_total', help: 'Responses by route pattern, method and status' };
  registerCounter(registry, text, ['route', 'method', 'status'], () => counts);
  return (route) => {
    const cellOf = createCellFinder(route, counts);
    const time = times({ route });
    return (method, status, seconds) => {
      cellOf(method, status).value++;
      time(seconds);
    };
  };
}

/** Cells are found by the unchanged method, without building a string. Node's parser accepts about thirty methods. */
function createCellFinder(route: string, counts: Cell<number>[]) {
  const byMethod = new Map<string, Map<number, Cell<number>>>();
  const cellOf = (method: string, status: number): Cell<number> =>
    byMethod.get(method)?.get(status) ?? addCell(method, status);
  const addCell = (method: string, status: number): Cell<number> => {
    const isCounted = METHODS.has(method);
    const cell = isCounted
      ? { labels: { route, method, status: `${status}` }, value: 0 }
      : cellOf(OTHER_METHODS, status);
    if (isCounted) counts.push(cell);
    byMethod.set(method, (byMethod.get(method) ?? new Map()).set(status, cell));
    return cell;
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

/** A pool of database connections: its limit, and how many statements and transactions wait for one or use one. */
export type PoolLoad = { pool: string; connections: number; inProgress: number };

function registerPoolGauges(registry: Registry, loads: () => PoolLoad[]): void {
  const register = (name: string, help: string, value: (load: PoolLoad) => number) => {
    new Gauge({
      name: `urlwarden_database_${name}`,
      help,
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const load of loads()) this.set({ pool: load.pool }, value(load));
      },
    });
  };
  register('connections_max', 'Connections to PostgreSQL that the pool may open', ({ connections }) => connections);
  register(
    'in_progress',
    'Statements and transactions that wait for a connection or use one',
    (load) => load.inProgress,
  );
}

/** The state of a feed. Its name is a label: an operator has only a few feeds and chooses their names. */
type FeedGauges = {
  name: string;
  lastSuccessTs: number | null;
  rows: number | null;
  failures: number;
  isStale: boolean;
};

const GAUGES: readonly [name: string, help: string, value: (feed: FeedGauges) => number | null][] = [
  ['last_success_timestamp_seconds', 'Time of the last successful run of the feed', (feed) => feed.lastSuccessTs],
  ['rows', 'Rows in the newest import of the feed', (feed) => feed.rows],
  ['failures', 'Failed runs of the feed since its last success', (feed) => feed.failures],
  ['stale', '1 if the feed had no successful run for three intervals', (feed) => Number(feed.isStale)],
];

/** Reads the feeds at every scrape: removed feeds disappear, and runs on other nodes are included. */
function registerFeedGauges(registry: Registry, feeds: () => Promise<FeedGauges[]>): void {
  for (const [name, help, value] of GAUGES) {
    new Gauge({
      name: `urlwarden_feed_${name}`,
      help,
      labelNames: ['feed'],
      registers: [registry],
      async collect() {
        const found = await feeds().catch(() => []); // the other metrics are most important when the database is down
        this.reset();
        for (const feed of found) {
          const current = value(feed);
          if (current !== null) this.set({ feed: feed.name }, current);
        }
      },
    });
  }
}
