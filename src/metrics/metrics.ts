import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Cell, createBuckets, observe, registerCounter, registerHistogram } from './cells.ts';

/** Told of an answer that went out whole. */
export type RecordAnswer = (method: string, status: number, seconds: number) => void;

/**
 * What this process counts about itself. Labels are route patterns and words of ours, never a URL, a name or an account:
 * each new value of a label is a series that a monitoring system keeps for months.
 */
export type Metrics = {
  /** For one pattern, asked for once. */
  route(pattern: string): RecordAnswer;
  /** A request that was refused below the routes, where there is no path yet. */
  unreadable(status: number): void;
  /** An answer that did not go out whole: the client left, or a stream broke. */
  aborted(): void;
  /** By the name that the limit has on the wire. */
  refused(limit: string): void;
  loggedIn(outcome: string): void;
  /** For one operation, asked for once. */
  storeCall(store: string, operation: string): (seconds: number) => void;
  /** Work between requests that failed and will be tried again. */
  failed(task: 'usage_write' | 'account_poll' | 'feed_poll'): void;
  /** A run of a feed in this process. */
  feedRan(feed: string, outcome: string): void;
  /** A query that was counted on this node only, because Redis is away. */
  countedLocally(): void;
  /** Asked for every scrape. */
  watchRedis(isUp: () => boolean): void;
  /** Asked for every scrape. */
  watchStreams(open: () => number): void;
  /** Asked for every scrape. */
  watchFeeds(feeds: () => Promise<FeedGauges[]>): void;
  /** The Prometheus text format, and its media type. */
  contentType: string;
  text(): Promise<string>;
};

/** Methods beyond these are counted together. */
const OTHER_METHODS = 'other';
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', OTHER_METHODS]);

/** From a look-up that found its page in memory to the end of the query budget. */
const ANSWER_BOUNDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** A look-up in the embedded store takes 20 µs. */
const STORE_BOUNDS = [0.00001, 0.000025, 0.00005, 0.0001, ...ANSWER_BOUNDS];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const count = (name: string, help: string, label: string) => {
    const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
    return (value: string | number) => counter.inc({ [label]: value });
  };
  const aborted = new Counter({
    name: 'urlwarden_http_aborted_total',
    help: 'Connections that closed before their response was complete',
    registers: [registry],
  });
  const feedRuns = new Counter({
    name: 'urlwarden_feed_runs_total',
    help: 'Runs of feeds in this process by outcome',
    labelNames: ['feed', 'outcome'],
    registers: [registry],
  });
  const countedLocally = new Counter({
    name: 'urlwarden_counted_locally_total',
    help: 'Queries counted on this node only because Redis is down',
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
    route: createAnswers(registry),
    unreadable: count('urlwarden_http_unreadable_total', 'Requests refused before they reached a route', 'status'),
    aborted: () => aborted.inc(),
    refused: count('urlwarden_limit_refusals_total', 'Requests refused because a limit was reached', 'limit'),
    loggedIn: count('urlwarden_logins_total', 'Logins by outcome', 'outcome'),
    storeCall: createStoreCalls(registry),
    failed: count('urlwarden_task_failures_total', 'Background tasks that failed and will be retried', 'task'),
    feedRan: (feed, outcome) => feedRuns.inc({ feed, outcome }),
    watchFeeds: (feeds) => registerFeedGauges(registry, feeds),
    countedLocally: () => countedLocally.inc(),
    watchRedis: (isUp) => watch('urlwarden_redis_up', '1 while Redis is up, 0 while it is down', () => Number(isUp())),
    watchStreams: (open) => watch('urlwarden_open_streams', 'Open streams', open),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

function createAnswers(registry: Registry): Metrics['route'] {
  const counts: Cell<number>[] = [];
  const times = createTimes(
    registry,
    { name: 'urlwarden_http_request_seconds', help: 'Time from the request headers to the end of the response' },
    ANSWER_BOUNDS,
  );
  const text = {
    name: 'urlwarden_http_requests_total',
    help: 'Complete responses by route pattern, method and status',
  };
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

/** By the method as it was sent, of which Node's parser lets some thirty through, so that nothing is made of it again. */
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
  const text = { name: 'urlwarden_store_seconds', help: 'Time of each call to a store; for a stream, of each page' };
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

/** How a feed is. Its name is a label: an operator has a handful of them, and chose the names. */
export type FeedGauges = {
  name: string;
  lastSuccessTs: number | null;
  rows: number | null;
  failures: number;
  isStale: boolean;
};

const GAUGES: readonly [name: string, help: string, value: (feed: FeedGauges) => number | null][] = [
  ['last_success_timestamp_seconds', 'Time of the last successful run of the feed', (feed) => feed.lastSuccessTs],
  ['rows', 'Rows in the newest import of the feed', (feed) => feed.rows],
  ['failures', 'Failed runs of the feed since its last successful run', (feed) => feed.failures],
  ['stale', '1 if the feed had no successful run for three intervals', (feed) => Number(feed.isStale)],
];

/** Asks for every scrape, so that a feed that is gone is gone here, and a node knows what others fetched. */
export function registerFeedGauges(registry: Registry, feeds: () => Promise<FeedGauges[]>): void {
  for (const [name, help, value] of GAUGES) {
    new Gauge({
      name: `urlwarden_feed_${name}`,
      help,
      labelNames: ['feed'],
      registers: [registry],
      async collect() {
        const found = await feeds().catch(() => []); // the other metrics are needed most when the store is away
        this.reset();
        for (const feed of found) {
          const current = value(feed);
          if (current !== null) this.set({ feed: feed.name }, current);
        }
      },
    });
  }
}
