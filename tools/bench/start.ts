import { paths } from '../../src/core/paths.ts';
import { urlAt } from '../shared/observations.ts';
import { startServer } from '../shared/server-process.ts';
import type { Bench, Row } from './harness/figure.ts';
import { load } from './harness/load.ts';
import { memoryMb } from './harness/measure.ts';
import { startUrlwarden } from './harness/servers.ts';
import { lookups, sample } from './lookups.ts';

const URLS = 1_000_000;
/** The wait before the memory of an idle server is measured, so that its startup work is done. */
const IDLE_MS = 2_000;
const SAMPLE_MS = 50;

/** From the start of the process to the first response to a lookup. */
export const start: Row = {
  name: 'start',
  async measure({ dataDir, rounds }: Bench) {
    const folder = dataDir(URLS);
    const { authorization, stop } = await startUrlwarden(folder); // fills the compile cache
    await stop();
    const request = {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ url: urlAt({ i: 0, urls: URLS }) }),
    };
    const ours: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const startMs = performance.now();
      const server = await startServer(folder, { metricsPort: 0 });
      const answer = await fetch(server.url + paths.urlLast, request);
      await answer.text();
      ours.push((performance.now() - startMs) / 1000);
      await server.stop();
      if (!answer.ok) throw new Error(`the lookup was answered with ${answer.status}`);
    }
    const name = `start to first lookup on ${URLS.toLocaleString('en')} URLs`;
    return [{ name, unit: 's', ours, yardstick: null, mark: { of: 'ours', atMost: 0.5 } }];
  },
};

/** Anonymous memory of a server when idle and under full load. The row `stream` measures it during a stream. */
export const memory: Row = {
  name: 'memory',
  async measure({ dataDir, rounds, seconds }: Bench) {
    const server = await startUrlwarden(dataDir(URLS));
    try {
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
      const idle = [memoryMb(server.child.pid)];
      const requests = lookups(paths.urlLast, server.authorization, sample(URLS, urlAt));
      const underLoad: number[] = [];
      for (let round = 0; round < rounds; round++) {
        let highest = 0;
        const sampler = setInterval(() => {
          highest = Math.max(highest, memoryMb(server.child.pid));
        }, SAMPLE_MS);
        await load(server.url, requests, seconds);
        clearInterval(sampler);
        underLoad.push(highest);
      }
      const own = { unit: 'MB', yardstick: null };
      return [
        { ...own, name: 'anonymous memory, idle', ours: idle, mark: { of: 'ours', atMost: 150 } },
        { ...own, name: 'anonymous memory under load', ours: underLoad, mark: { of: 'ours', atMost: 250 } },
      ];
    } finally {
      await server.stop();
    }
  },
};
