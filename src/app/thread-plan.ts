import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../config/settings.ts';
import { canSharePort } from './listen.ts';

type ThreadPlan = {
  /** How many threads answer. */
  count: number;
  /** More were wanted, but several threads cannot listen on one port here. */
  isReduced: boolean;
  /** Those that each of them gets. */
  settings: Settings;
};

/** More threads answer more requests only while nothing else limits them; each takes memory. */
const DEFAULT_MAX_THREADS = 8;

/** Every thread has a pool of connections; together they have those of the settings, but each at least this many. */
const MIN_CONNECTIONS = 2;

export async function planThreads(settings: Settings): Promise<ThreadPlan> {
  const { threads, demo } = settings;
  const wanted = threads ?? (demo ? 1 : Math.min(availableParallelism(), DEFAULT_MAX_THREADS));
  const count = wanted === 1 || (await canSharePort()) ? wanted : 1;
  return { count, isReduced: count < wanted, settings: settingsOfThread(settings, count) };
}

function settingsOfThread(settings: Settings, threads: number): Settings {
  const share = Math.max(MIN_CONNECTIONS, Math.floor(settings.databaseConnections / threads));
  return {
    ...settings,
    dataDir: settings.demo ? join(settings.dataDir, 'demo') : settings.dataDir,
    allowReserved: settings.allowReserved || settings.demo,
    databaseConnections: threads === 1 ? settings.databaseConnections : share,
  };
}
