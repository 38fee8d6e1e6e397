import type { Registry } from 'prom-client';
import { type Cell, createHistogram, registerCounter } from './cells.ts';

/** Records a response that was sent completely. */
export type RecordResponse = (method: string, status: number, seconds: number) => void;

export type RouteMetrics = {
  responded: RecordResponse;
  /** Of a stream: records how long it took until the first record was found. */
  firstRecord?(seconds: number): void;
};

export type ResponseMetrics = {
  /** To be called once for each route pattern. */
  route(pattern: string): RouteMetrics;
  /** The same for a route whose response is a stream: the time of its reader must not look like a slow response. */
  streamRoute(pattern: string): RouteMetrics;
};

/** All other methods are counted together. */
const OTHER_METHODS = 'other';
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', OTHER_METHODS]);

/** From a lookup in cached pages to the end of the query budget. */
export const RESPONSE_BOUNDS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
/** The fastest stream sends one page, the slowest one feeds a slow reader for an hour. */
const STREAM_BOUNDS = [0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10, 25, 60, 300, 900, 3600];

export function createResponses(registry: Registry, thread: number): ResponseMetrics {
  const counts: Cell<number>[] = [];
  const times = createHistogram(
    registry,
    {
      name: 'urlwarden_http_request_seconds',
      help: 'Time from the start of a request to the end of its response, without streams',
    },
    RESPONSE_BOUNDS,
  );
  const streamTimes = createHistogram(
    registry,
    { name: 'urlwarden_http_stream_seconds', help: 'Time from the start of a request to the end of its stream' },
    STREAM_BOUNDS,
  );
  const firstTimes = createHistogram(
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

  function responded(route: string, observerOf: (statusClass: string) => ObserveSeconds): RecordResponse {
    const cellOf = createCellFinder(route, counts, perClass(observerOf));
    return (method, status, seconds) => {
      const { count, observeSeconds } = cellOf(method, status);
      count.value++;
      observeSeconds(seconds);
    };
  }
  const ofClass = (route: string) => (statusClass: string) => times({ route, status_class: statusClass });
  return {
    route: (route) => ({ responded: responded(route, ofClass(route)) }),
    streamRoute(route) {
      // A refused stream is an ordinary response.
      const observerOf = (statusClass: string) =>
        statusClass === SUCCESS ? streamTimes({ route }) : ofClass(route)(statusClass);
      return { responded: responded(route, observerOf), firstRecord: firstTimes({ route }) };
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
