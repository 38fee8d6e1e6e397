import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { paths } from '../../src/core/paths.ts';
import { copyData } from '../../src/database/copy.ts';
import { type PostgresServer, runPostgres, startPostgres } from '../../test/servers/postgres.ts';
import { startRedis } from '../../test/servers/redis.ts';
import { urlAt } from '../shared/observations.ts';
import { logIn, operatorOf, passwordFile, startServer } from '../shared/server-process.ts';
import { rates as bulkRates, mostlyUnknown } from './bulk.ts';
import { alternate, type Bench, type Row } from './harness/figure.ts';
import { load } from './harness/load.ts';
import type { ScaledYardstickOptions } from './harness/scaled-yardstick.ts';
import { startUrlwarden, startYardstickProcess } from './harness/servers.ts';
import { lookups, sample, warmUp } from './lookups.ts';

const URLS = 1_000_000;
const CONNECTIONS = 10;
const YARDSTICK = fileURLToPath(new URL('./harness/scaled-yardstick.ts', import.meta.url));

const SETTINGS = { shared_buffers: '1GB', max_wal_size: '8GB' };

/** One node on PostgreSQL and Redis, all on this machine. */
export const scaled: Row = {
  name: 'scaled',
  async measure(bench) {
    const postgres = await filledPostgres(bench);
    const redis = await startRedis();
    const folder = mkdtempSync(join(tmpdir(), 'urlwarden-scaled-'));
    const args = ['--database-url', postgres.url, '--redis-url', redis.url];
    const ours = await startServer(folder, { metricsPort: 0, args });
    const options: ScaledYardstickOptions = {
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      connections: CONNECTIONS,
    };
    const yardstick = await startYardstickProcess(YARDSTICK, options);
    try {
      const authorization = await logIn(ours.url, operatorOf(postgres.dataDir));
      const requests = lookups(paths.urlLast, authorization, sample(URLS, urlAt));
      const loadServer = (url: string) => (seconds: number) => load(url, requests, seconds);
      await warmUp(loadServer(yardstick.url), loadServer(ours.url));
      const results = await alternate(
        bench.rounds,
        () => loadServer(yardstick.url)(bench.seconds),
        () => loadServer(ours.url)(bench.seconds),
      );
      const rates = (rounds: { perSecond: number }[]) => rounds.map(({ perSecond }) => perSecond);
      const name = 'PostgreSQL + Redis: url/last / bare Fastify, same query, one Redis call';
      const mark = { of: 'ratio', atLeast: 0.8 } as const;
      const bulk = await bulkRates({ ...ours, authorization }, mostlyUnknown(), bench);
      const bulkMark = { of: 'ours', atLeast: 40_000 } as const;
      return [
        { name, unit: '/s', ours: rates(results.ours), yardstick: rates(results.yardstick), mark },
        {
          name: 'PostgreSQL + Redis: url/bulk, 95 % unknown',
          unit: 'URLs/s of CPU',
          ours: bulk.rates,
          yardstick: null,
          mark: bulkMark,
        },
      ];
    } finally {
      await yardstick.stop();
      await ours.stop();
      await redis.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/**
 * The same data as in the embedded store, with operator and keys. It is kept between runs too, but in another folder,
 * because the server runs as another user, who needs access.
 */
async function filledPostgres({ dataDir, log }: Bench): Promise<PostgresServer> {
  const from = dataDir(URLS);
  const folder = join(tmpdir(), `urlwarden-bench-postgres-${basename(from)}`);
  if (!existsSync(folder)) {
    log(`copying ${URLS} URLs to PostgreSQL in ${folder}`);
    await (await startUrlwarden(from)).stop();
    const server = await startPostgres(SETTINGS);
    await copyData({ dataDir: from, databaseUrl: server.url, signal: new AbortController().signal });
    await server.stop();
    copyFileSync(passwordFile(from), passwordFile(server.dataDir));
    renameSync(server.dataDir, folder);
  }
  return runPostgres(folder, SETTINGS);
}
