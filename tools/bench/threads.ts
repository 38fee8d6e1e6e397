import { setTimeout as wait } from 'node:timers/promises';
import { paths } from '../../src/core/paths.ts';
import { UrlLastResponse, UrlRequest } from '../../src/urls/schemas.ts';
import { urlAt } from '../shared/observations.ts';
import type { Bench, Row } from './harness/figure.ts';
import { CONNECTIONS, load, type Requests } from './harness/load.ts';
import { startUrlwarden, startYardstick } from './harness/servers.ts';
import { lookups, sample, warmUp } from './lookups.ts';

const URLS = 1_000_000;
const THREADS = 2;

/** What two threads gain over one, and what a bare Fastify route gains. The load takes a part of the same cores. */
export const threads: Row = {
  name: 'threads',
  async measure(bench) {
    const dataDir = bench.dataDir(URLS);
    const one = await startUrlwarden(dataDir);
    const two = await startUrlwarden(dataDir, [], ['--threads', `${THREADS}`]);
    const bodies = sample(URLS, urlAt);
    const ours = lookups(paths.urlLast, one.authorization, bodies);
    const stops = [one.stop, two.stop];
    try {
      await untilAllListen(two.metricsUrl ?? '');
      const first = await fetch(one.url + paths.urlLast, {
        method: 'POST',
        headers: { authorization: one.authorization },
        body: ours.bodies[0] ?? null,
      });
      const body: unknown = await first.json();
      const bare = { engine: 'fastify', path: paths.urlLast, request: UrlRequest, response: UrlLastResponse } as const;
      const bareOne = await startYardstick({ ...bare, status: first.status, body });
      const bareTwo = await startYardstick({ ...bare, status: first.status, body, threads: THREADS });
      stops.push(bareOne.stop, bareTwo.stop);
      const gains = await measureGains(
        bench,
        ours,
        { one: one.url, two: two.url },
        { one: bareOne.url, two: bareTwo.url },
      );
      const responses = await responsesByThread(two.metricsUrl ?? '');
      return [
        {
          name: 'two threads ÷ one, url/last / bare Fastify',
          unit: '×',
          mark: { of: 'ratio', atLeast: 0.9 },
          ...gains,
        },
        {
          name: 'responses of two threads, most ÷ least',
          unit: '×',
          yardstick: null,
          ours: [Math.max(...responses) / Math.min(...responses)],
          mark: { of: 'ours', atMost: 2 },
        },
      ];
    } finally {
      for (const stop of stops) await stop();
    }
  },
};

type Servers = { one: string; two: string };

/** Each thread has as many connections. The four loads of a round follow each other. */
async function measureGains({ rounds, seconds }: Bench, requests: Requests, ours: Servers, bare: Servers) {
  const rate = async (url: string, threadCount: number, forSeconds = seconds) =>
    (await load(url, requests, forSeconds, CONNECTIONS * threadCount)).perSecond;
  const gain = async ({ one, two }: Servers) => (await rate(two, THREADS)) / (await rate(one, 1));
  await warmUp(
    ...[ours, bare].flatMap(({ one, two }) => [
      (forSeconds: number) => rate(one, 1, forSeconds),
      (forSeconds: number) => rate(two, THREADS, forSeconds),
    ]),
  );
  const gains: { ours: number[]; yardstick: number[] } = { ours: [], yardstick: [] };
  for (let round = 0; round < rounds; round++) {
    gains.yardstick.push(await gain(bare));
    gains.ours.push(await gain(ours));
  }
  return gains;
}

async function responsesByThread(metricsUrl: string): Promise<number[]> {
  const text = await (await fetch(metricsUrl)).text();
  const rows = text.matchAll(/^urlwarden_thread_responses_total\{thread="\d+"\} (\d+)$/gm);
  return [...rows].map(([, count]) => Number(count));
}

/** A thread is in the metrics as soon as it has opened its databases; soon after that it listens. */
async function untilAllListen(metricsUrl: string): Promise<void> {
  while ((await responsesByThread(metricsUrl)).length < THREADS) await wait(50);
  await wait(1_000);
}
