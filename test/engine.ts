import type { TestContext } from 'node:test';
import type { Control, DataPlace } from '../src/app/stores.ts';
import { createMemoryCounters } from '../src/limits/counters-memory.ts';
import type { Counters } from '../src/limits/store.ts';
import { temporaryRedisCounters } from './limits/temporary-redis-counters.ts';
import { temporaryDatabase } from './servers/temporary-database.ts';
import { temporaryFolder } from './temporary-folder.ts';

// Suites that use these functions run twice: on the embedded store, and with this variable on PostgreSQL and Redis
// (npm run test:scaled).
const isScaled = process.env.URLWARDEN_TEST_ENGINE === 'scaled';

/** An empty place for the data of a test, removed afterwards. */
export async function temporaryPlace(t: TestContext): Promise<DataPlace> {
  const dataDir = temporaryFolder(t);
  return isScaled ? { dataDir, databaseUrl: await temporaryDatabase(t) } : { dataDir };
}

/** Counters with the given clock, closed after the test. */
export async function temporaryCounters(t: TestContext, control: Control, nowMs: () => number): Promise<Counters> {
  if (isScaled) return temporaryRedisCounters(t, control, { nowMs });
  const counters = createMemoryCounters(control, { nowMs });
  t.after(() => counters.close());
  return counters;
}
