import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { copyData } from '../../../src/database/copy.ts';
import { dataFiles } from '../../../src/database/data-folder.ts';
import { runPostgres, startPostgres } from '../../../test/servers/postgres.ts';
import { startRedis } from '../../../test/servers/redis.ts';
import { bulkFill } from '../../shared/bulk-fill.ts';
import { allObservations } from '../../shared/stores.ts';
import { addAccounts, type LoadAccount } from './accounts.ts';

export const ENGINES = ['embedded', 'scaled'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Filled databases with the accounts of the run. */
export type Engine = {
  name: EngineName;
  /** For the files of the run. */
  folder: string;
  /** The data folder of the server. */
  dataDir: string;
  accounts: LoadAccount[];
  /** Where the data is, for commands. */
  placeFlags: string[];
  /** More than the data folder, for the server. */
  serverFlags: string[];
  restarts: null | {
    redis(signal: NodeJS.Signals): Promise<void>;
    postgres(signal: NodeJS.Signals): Promise<void>;
  };
  close(): Promise<void>;
};

type EngineOptions = { urls: number; downMs: number; signal: AbortSignal; log(text: string): void };

export async function openEngine(name: EngineName, options: EngineOptions): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), `urlwarden-load-${name}-`));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  try {
    options.log(`${name}: generating ${options.urls} URLs`);
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    bulkFill(dataFiles(dataDir).intelligence, allObservations(options.urls));
    const accounts = await addAccounts(dataDir);
    if (name === 'scaled') return await openScaled(folder, dataDir, accounts, options);
    const placeFlags = ['--data', dataDir];
    return {
      name,
      folder,
      dataDir,
      accounts,
      placeFlags,
      serverFlags: [],
      restarts: null,
      close: async () => removeFolder(),
    };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

/** As in production, unlike the settings of the tests, which trade safety for speed. */
const POSTGRES = {
  fsync: 'on',
  full_page_writes: 'on',
  autovacuum: 'on',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
};

async function openScaled(
  folder: string,
  dataDir: string,
  accounts: LoadAccount[],
  { downMs, signal, log }: EngineOptions,
): Promise<Engine> {
  let postgres = await startPostgres(POSTGRES);
  let redis = await startRedis();
  const placeFlags = ['--database-url', postgres.url];
  const close = async () => {
    await redis.stop();
    await postgres.stop();
    postgres.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    log('scaled: copying them to PostgreSQL');
    await copyData({ dataDir, databaseUrl: postgres.url, signal });
    rmSync(dataDir, { recursive: true });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name: 'scaled',
    folder,
    dataDir: join(folder, 'node'),
    accounts,
    placeFlags,
    serverFlags: [...placeFlags, '--redis-url', redis.url],
    restarts: {
      async redis(stopSignal) {
        await redis.stop(stopSignal);
        await sleep(downMs);
        redis = await startRedis({ port: redis.port });
      },
      async postgres(stopSignal) {
        const { dataDir: files, port } = postgres;
        await postgres.stop(stopSignal);
        await sleep(downMs);
        postgres = await runPostgres(files, POSTGRES, port);
      },
    },
    close,
  };
}
