import { paths } from '../../src/core/paths.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { urlAt } from '../shared/observations.ts';
import { alternate, type Bench, type Row } from './harness/figure.ts';
import { load } from './harness/load.ts';
import { loadIntoPageCache } from './harness/measure.ts';
import { startUrlwarden } from './harness/servers.ts';
import { lookups, sample, warmUp } from './lookups.ts';

const SMALL = 10_000;

/** The latency of a lookup with a thousand times as many URLs. */
export const growth: Row = {
  name: 'growth',
  async measure({ dataDir, largest, rounds, seconds }: Bench) {
    await loadIntoPageCache(dataFiles(dataDir(largest)).intelligence);
    const [small, large] = [await startUrlwarden(dataDir(SMALL)), await startUrlwarden(dataDir(largest))];
    try {
      const p50Of = (server: typeof small, urls: number) => {
        const requests = lookups(paths.urlLast, server.authorization, sample(urls, urlAt));
        return async (forSeconds = seconds) => (await load(server.url, requests, forSeconds)).p50Ms;
      };
      const [p50Small, p50Large] = [p50Of(small, SMALL), p50Of(large, largest)];
      await warmUp(p50Small, p50Large);
      const { yardstick, ours } = await alternate(
        rounds,
        () => p50Small(),
        () => p50Large(),
      );
      const name = `p50 of url/last at ${largest.toLocaleString('en')} URLs / at ${SMALL.toLocaleString('en')}`;
      return [{ name, unit: 'ms', ours, yardstick, mark: { of: 'ratio', atMost: 1.5 } }];
    } finally {
      await Promise.all([small.stop(), large.stop()]);
    }
  },
};
