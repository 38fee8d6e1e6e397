import { paths } from '../../src/core/paths.ts';
import { urlAt } from '../shared/observations.ts';
import { API_KEY, crowdsecFolder, crowdsecVersion, startCrowdsec } from './harness/crowdsec.ts';
import { type Bench, inTurns, type Result, type Row } from './harness/figure.ts';
import { load, type Requests } from './harness/load.ts';
import { startUrlwarden } from './harness/servers.ts';
import { lookups, sample, warmUp } from './lookups.ts';

const URLS = 1_000_000;
const NAME = 'url/last / CrowdSec local API';

/** What a user might pick instead: CrowdSec's local API with the same URLs as decisions. */
export const peer: Row = {
  name: 'peer',
  async measure(bench: Bench): Promise<Result[]> {
    const version = crowdsecVersion();
    if (version === null) return [{ name: NAME, missing: 'apt-get install crowdsec, or its binary in CROWDSEC' }];
    const dataDir = bench.dataDir(URLS);
    const folder = `${dataDir}-crowdsec`;
    await crowdsecFolder(folder, allUrls);
    const theirs = await startCrowdsec(folder);
    const ours = await startUrlwarden(dataDir);
    try {
      const urls = sample(URLS, urlAt);
      const [ask, askTheirs] = [lookups(paths.urlLast, ours.authorization, urls), decisions(urls)];
      const askedOurs = async (seconds = bench.seconds) => (await load(ours.url, ask, seconds)).perSecond;
      const askedTheirs = async (seconds = bench.seconds) => (await load(theirs.url, askTheirs, seconds)).perSecond;
      await warmUp(askedTheirs, askedOurs);
      const turns = await inTurns(
        bench.rounds,
        () => askedTheirs(),
        () => askedOurs(),
      );
      return [{ name: NAME, unit: '/s', ...turns, mark: { of: 'ratio', atLeast: 3 }, note: version }];
    } finally {
      await Promise.all([ours.stop(), theirs.stop()]);
    }
  },
};

function* allUrls(): Generator<string> {
  for (let i = 0; i < URLS; i++) yield urlAt({ i, urls: URLS });
}

function decisions(urls: readonly string[]): Requests {
  const wanted = urls.map((url) => `/v1/decisions?scope=url&value=${encodeURIComponent(url)}`);
  return { method: 'GET', headers: { 'x-api-key': API_KEY }, paths: wanted, bodies: [], isRefused: false };
}
