import { paths } from '../../src/core/paths.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { urlAt } from '../shared/observations.ts';
import { type Bench, inTurns, type Row } from './harness/figure.ts';
import { load } from './harness/load.ts';
import { readThrough } from './harness/measure.ts';
import { startUrlwarden } from './harness/servers.ts';
import { lookups, sample, warmUp } from './lookups.ts';

const SMALL = 10_000;

/** What a thousand times as many URLs cost a look-up. */
export const growth: Row = {
  name: 'growth',
  async measure({ dataDir, largest, rounds, seconds }: Bench) {
    await readThrough(dataFiles(dataDir(largest)).intelligence);
    const [small, large] = [await startUrlwarden(dataDir(SMALL)), await startUrlwarden(dataDir(largest))];
    try {
      const asked = (server: typeof small, urls: number) => {
        const requests = lookups(paths.urlLast, server.authorization, sample(urls, urlAt));
        return async (forSeconds = seconds) => (await load(server.url, requests, forSeconds)).p50Ms;
      };
      const [askSmall, askLarge] = [asked(small, SMALL), asked(large, largest)];
      await warmUp(askSmall, askLarge);
      const { yardstick, ours } = await inTurns(
        rounds,
        () => askSmall(),
        () => askLarge(),
      );
      const name = `p50 of url/last at ${largest.toLocaleString('en')} URLs / at ${SMALL.toLocaleString('en')}`;
      return [{ name, unit: 'ms', ours, yardstick, mark: { of: 'ratio', atMost: 1.5 } }];
    } finally {
      await Promise.all([small.stop(), large.stop()]);
    }
  },
};
