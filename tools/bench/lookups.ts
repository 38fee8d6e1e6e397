import { dice } from '../../src/core/dice.ts';
import { paths } from '../../src/core/paths.ts';
import { ErrorBody } from '../../src/http/errors.ts';
import { UrlHistoryResponse, UrlLastResponse, UrlRequest } from '../../src/urls/schemas.ts';
import { unknownUrlAt, urlAt, urlsWithLongHistory } from '../shared/observations.ts';
import { alternate, type Bench, type Figure, type Mark, type Row } from './harness/figure.ts';
import { load, type Requests } from './harness/load.ts';
import { startUrlwarden, startYardstick, type Urlwarden } from './harness/servers.ts';
import type { YardstickOptions } from './harness/yardstick-server.ts';

const URLS = 1_000_000;
/** More than a round requests, so that no URL is requested twice in a round. */
const SAMPLES = 200_000;
const SEED = 7;

/** Uniform over all URLs, so that a cache of popular URLs does not help. */
export function sample(urls: number, urlOf: (place: { i: number; urls: number }) => string): string[] {
  const roll = dice(SEED);
  return Array.from({ length: SAMPLES }, () => urlOf({ i: roll(urls), urls }));
}

export function lookups(path: string, authorization: string, urls: readonly string[], isRefused = false): Requests {
  const headers = { authorization, 'content-type': 'application/json' };
  return { method: 'POST', headers, paths: [path], bodies: urls.map((url) => JSON.stringify({ url })), isRefused };
}

/**
 * The JIT compiler needs some ten thousand requests before a server reaches its final speed: in seconds 3 to 5 under
 * load our server took 283 µs per request and the bare one 121, in seconds 9 to 11 they took 213 and 94.
 */
const WARM_UP_SECONDS = 8;

export async function warmUp(...loads: ((seconds: number) => Promise<unknown>)[]): Promise<void> {
  for (const loadServer of loads) await loadServer(WARM_UP_SECONDS);
}

type Comparison = Pick<YardstickOptions, 'engine' | 'path' | 'response'> & {
  name: string;
  mark: Mark | null;
  urls: string[];
  /** Unless it is the usual number. */
  connections?: number;
};

/** Compares our server with one that always returns our first response. */
async function compare({ rounds, seconds }: Bench, ours: Urlwarden, comparison: Comparison): Promise<Figure> {
  const { name, mark, urls, engine, path, response, connections } = comparison;
  const first = await fetch(ours.url + path, {
    method: 'POST',
    headers: { authorization: ours.authorization },
    body: JSON.stringify({ url: urls[0] }),
  });
  const { status } = first;
  const requests = lookups(path, ours.authorization, urls, status !== 200);
  const body: unknown = await first.json();
  const yardstick = await startYardstick({ engine, path, request: UrlRequest, response, status, body });
  try {
    const loadYardstick = (forSeconds = seconds) => load(yardstick.url, requests, forSeconds, connections);
    const loadOurs = (forSeconds = seconds) => load(ours.url, requests, forSeconds, connections);
    await warmUp(loadYardstick, loadOurs);
    const results = await alternate(
      rounds,
      () => loadYardstick(),
      () => loadOurs(),
    );
    const rates = (rounds: { perSecond: number }[]) => rounds.map(({ perSecond }) => perSecond);
    return { name, unit: '/s', ours: rates(results.ours), yardstick: rates(results.yardstick), mark };
  } finally {
    await yardstick.stop();
  }
}

function lookupRow(name: string, comparisons: () => Comparison[]): Row {
  return {
    name,
    async measure(bench) {
      const server = await startUrlwarden(bench.dataDir(URLS));
      try {
        const figures = [];
        for (const comparison of comparisons()) figures.push(await compare(bench, server, comparison));
        return figures;
      } finally {
        await server.stop();
      }
    },
  };
}

const knownUrls = () => ({ path: paths.urlLast, response: UrlLastResponse, urls: sample(URLS, urlAt) });
const ratio = (atLeast: number): Mark => ({ of: 'ratio', atLeast });

export const last = lookupRow('last', () => {
  const known = knownUrls();
  return [
    { ...known, name: 'url/last, known URL / bare Fastify', engine: 'fastify', mark: ratio(0.75) },
    { ...known, name: 'url/last, known URL / bare node:http', engine: 'node:http', mark: null },
  ];
});

/** A caller that sends one request after the other. */
export const lastAlone = lookupRow('last-alone', () => [
  {
    ...knownUrls(),
    name: 'url/last, one connection / bare Fastify',
    engine: 'fastify',
    connections: 1,
    mark: ratio(0.55),
  },
]);

export const unknown = lookupRow('unknown', () => [
  {
    name: 'url/last, unknown URL / bare Fastify',
    engine: 'fastify',
    path: paths.urlLast,
    response: ErrorBody,
    urls: sample(URLS, unknownUrlAt),
    mark: ratio(0.8),
  },
]);

export const history = lookupRow('history', () => [
  {
    name: 'url/history, 100 + 100 / bare Fastify',
    engine: 'fastify',
    path: paths.urlHistory,
    response: UrlHistoryResponse,
    urls: [...urlsWithLongHistory(URLS)],
    mark: ratio(0.7),
  },
]);
