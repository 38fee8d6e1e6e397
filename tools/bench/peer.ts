import { paths } from '../../src/core/paths.ts';
import { urlAt } from '../shared/observations.ts';
import { API_KEY, crowdsecFolder, crowdsecVersion, startCrowdsec } from './harness/crowdsec.ts';
import { alternate, type Bench, type Result, type Row } from './harness/figure.ts';
import { load, type Requests } from './harness/load.ts';
import { startUrlwarden } from './harness/servers.ts';
import { lookups, sample, warmUp } from './lookups.ts';

const URLS = 1_000_000;
const NAME = 'url/last / CrowdSec local API';

/** Compares with an alternative product: CrowdSec's local API with the same URLs as decisions. */
export const peer: Row = {
  name: 'peer',
  async measure(bench: Bench): Promise<Result[]> {
    const version = crowdsecVersion();
    if (version === null) return [{ name: NAME, missing: 'install crowdsec (apt-get), or set CROWDSEC to its binary' }];
    const dataDir = bench.dataDir(URLS);
    const folder = `${dataDir}-crowdsec`;
    await crowdsecFolder(folder, allUrls);
    const theirs = await startCrowdsec(folder);
    const ours = await startUrlwarden(dataDir);
    try {
      const urls = sample(URLS, urlAt);
      const [ourRequests, theirRequests] = [lookups(paths.urlLast, ours.authorization, urls), decisions(urls)];
      const rateOfOurs = async (seconds = bench.seconds) => (await load(ours.url, ourRequests, seconds)).perSecond;
      const rateOfTheirs = async (seconds = bench.seconds) =>
        (await load(theirs.url, theirRequests, seconds)).perSecond;
      await warmUp(rateOfTheirs, rateOfOurs);
      const rates = await alternate(
        bench.rounds,
        () => rateOfTheirs(),
        () => rateOfOurs(),
      );
      return [{ name: NAME, unit: '/s', ...rates, mark: { of: 'ratio', atLeast: 3 }, note: version }];
    } finally {
      await Promise.all([ours.stop(), theirs.stop()]);
    }
  },
};

function* allUrls(): Generator<string> {
  for (let i = 0; i < URLS; i++) yield urlAt({ i, urls: URLS });
}

function decisions(urls: readonly string[]): Requests {
  const decisionPaths = urls.map((url) => `/v1/decisions?scope=url&value=${encodeURIComponent(url)}`);
  return { method: 'GET', headers: { 'x-api-key': API_KEY }, paths: decisionPaths, bodies: [], isRefused: false };
}
