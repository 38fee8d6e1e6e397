import { paths } from '../../src/core/paths.ts';
import type { Bench, Figure, Row } from './harness/figure.ts';
import { countLines } from './harness/measure.ts';
import { startUrlwarden, type Urlwarden } from './harness/servers.ts';

const URLS = 1_000_000;
/** The search is repeated until this many rows were received, so that small networks are measured as precisely. */
const ROWS = 20_000;
/** The largest network has a million rows; this many are enough for the figure. */
const LIMIT = 200_000;

const NETWORKS = ['10.0.0.0/8', '10.0.0.0/16', '10.0.0.0/24', '10.0.0.1/32'];
const NETWORKS6 = ['2001:db8::/32', '2001:db8:1::/48', '2001:db8:1:1::/64'];
/** From this network to the largest, the cost per row must be about the same. */
const FLAT_FROM = '10.0.0.0/24';

async function microsecondsPerRow({ url, authorization }: Urlwarden, ip: string): Promise<number> {
  const startMs = performance.now();
  let rows = 0;
  while (rows < ROWS)
    rows += await countLines(`${url}${paths.urlSearch}?since=0&limit=${LIMIT}`, authorization, { ip });
  return ((performance.now() - startMs) * 1000) / rows;
}

export const cidr: Row = {
  name: 'cidr',
  async measure({ dataDir, rounds }: Bench) {
    const server = await startUrlwarden(dataDir(URLS));
    try {
      const times = new Map<string, number[]>([...NETWORKS, ...NETWORKS6].map((network) => [network, []]));
      for (let round = 0; round < rounds; round++) {
        for (const [network, all] of times) all.push(await microsecondsPerRow(server, network));
      }
      const figure = (network: string, reference: string | null): Figure => ({
        name: `search of ${network}${reference === null ? '' : ` / ${reference}`}, per row`,
        unit: 'µs',
        ours: times.get(network) ?? [],
        yardstick: reference === null ? null : (times.get(reference) ?? []),
        mark: reference === null ? null : { of: 'ratio', atLeast: 0.5, atMost: 2 },
      });
      const narrow = [...NETWORKS.slice(NETWORKS.indexOf(FLAT_FROM)), ...NETWORKS6];
      return [
        ...NETWORKS.slice(0, NETWORKS.indexOf(FLAT_FROM)).map((network) => figure(network, FLAT_FROM)),
        ...narrow.map((network) => figure(network, null)),
      ];
    } finally {
      await server.stop();
    }
  },
};
